//go:build !purego

#include "textflag.h"

// How many values in a row start with a prefix; see PrefixRun.
//
// A value that is long enough is compared in two loads that may overlap, its
// first bytes and the last ones that the prefix reaches to, so that nothing is
// read outside of either. Between the two lies something only in prefixes of
// more than 64 bytes. The prefix's two loads stay in registers.
//
//	SI  prefix          CX  its length       DX  its length - 32
//	DI  data            R8  offsets          R9  number of values
//	AX  value           R10 where it starts  R11 where it ends
//	R12 its address

// NEXT goes to done unless there is another value of at least CX bytes, and
// finds it.
#define NEXT(LOAD, SIZE) \
	CMPQ AX, R9                  \
	JGE  done                    \
	LOAD SIZE(R8)(AX*SIZE), R11  \
	LEAQ (DI)(R10*1), R12        \
	MOVQ R11, BX                 \
	SUBQ R10, BX                 \
	CMPQ BX, CX                  \
	JLT  done                    \
	MOVQ R11, R10

#define PREFIXRUN(LOAD, SIZE) \
	MOVQ prefix_base+0(FP), SI   \
	MOVQ prefix_len+8(FP), CX    \
	MOVQ data_base+24(FP), DI    \
	MOVQ offsets_base+48(FP), R8 \
	MOVQ offsets_len+56(FP), R9  \
	DECQ R9                      \
	XORL AX, AX                  \
	LOAD (R8), R10               \
	CMPQ CX, $32                 \
	JAE  long                    \
	CMPQ CX, $16                 \
	JAE  medium                  \
	MOVQ (SI), R13               \
	MOVQ -8(SI)(CX*1), SI        \
short:                               \
	NEXT(LOAD, SIZE)             \
	CMPQ R13, (R12)              \
	JNE  done                    \
	CMPQ SI, -8(R12)(CX*1)       \
	JNE  done                    \
	INCQ AX                      \
	JMP  short                   \
medium:                              \
	VMOVDQU (SI), X0             \
	VMOVDQU -16(SI)(CX*1), X1    \
mediumNext:                          \
	NEXT(LOAD, SIZE)             \
	VPCMPEQB (R12), X0, X2       \
	VPCMPEQB -16(R12)(CX*1), X1, X3 \
	VPAND X2, X3, X2             \
	VPMOVMSKB X2, BX             \
	CMPL BX, $0xFFFF             \
	JNE  done                    \
	INCQ AX                      \
	JMP  mediumNext              \
long:                                \
	LEAQ -32(CX), DX             \
	VMOVDQU (SI), Y0             \
	VMOVDQU (SI)(DX*1), Y1       \
longNext:                            \
	NEXT(LOAD, SIZE)             \
	VPCMPEQB (R12), Y0, Y2       \
	VPCMPEQB (R12)(DX*1), Y1, Y3 \
	VPAND Y2, Y3, Y2             \
	VPMOVMSKB Y2, BX             \
	CMPL BX, $0xFFFFFFFF         \
	JNE  done                    \
	MOVL $32, BX                 \
middle:                              \
	CMPQ BX, DX                  \
	JGE  like                    \
	VMOVDQU (SI)(BX*1), Y2       \
	VPCMPEQB (R12)(BX*1), Y2, Y2 \
	VPMOVMSKB Y2, R13            \
	CMPL R13, $0xFFFFFFFF        \
	JNE  done                    \
	ADDQ $32, BX                 \
	JMP  middle                  \
like:                                \
	INCQ AX                      \
	JMP  longNext                \
done:                                \
	VZEROUPPER                   \
	MOVQ AX, ret+72(FP)          \
	RET

// func prefixRun32(prefix, data []byte, offsets []int32) int
TEXT ·prefixRun32(SB), NOSPLIT, $0-80
	PREFIXRUN(MOVLQSX, 4)

// func prefixRun64(prefix, data []byte, offsets []int64) int
TEXT ·prefixRun64(SB), NOSPLIT, $0-80
	PREFIXRUN(MOVQ, 8)
