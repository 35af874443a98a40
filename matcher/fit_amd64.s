//go:build !purego

#include "textflag.h"

// The first path's sketch that has all bits of a tail's; see fit_amd64.go.
//
//	SI  paths           CX  their number       AX  number of the path
//	DI  tails           DX  their octets       R8  where the last ones that are
//	BX  octets before the next tail                looked at together begin
//	R9  what the path's sketch has not

// FIRST is the first path.
#define FIRST \
	MOVQ paths_base+0(FP), SI  \
	MOVQ paths_len+8(FP), CX   \
	MOVQ tails_base+24(FP), DI \
	MOVQ tails_len+32(FP), DX  \
	XORL AX, AX

// BEGIN goes to done unless there is a path and it has no hardBits, and to its first
// tail.
#define BEGIN \
	XORL BX, BX         \
	CMPQ AX, CX         \
	JGE  done           \
	MOVQ (SI)(AX*8), R9 \
	MOVQ R9, R10        \
	SHRQ $62, R10       \
	JNE  done           \
	NOTQ R9

// RETURN returns the path and the tail.
#define RETURN \
	VZEROUPPER           \
	SHRQ $3, BX          \
	MOVQ AX, path+48(FP) \
	MOVQ BX, tail+56(FP) \
	RET

// func firstFitAVX2(paths []Sketch, tails []byte) (path, tail int)
//
// Four tails at a time, the last four maybe some of them for the second time;
// fewer than four one by one. Y0 is R9 four times, Y3 zeros.
TEXT ·firstFitAVX2(SB), NOSPLIT, $0-64
	FIRST
	LEAQ  -32(DX), R8
	VPXOR Y3, Y3, Y3

path:
	BEGIN
	TESTQ R8, R8
	JLT   one
	VMOVQ R9, X0
	VPBROADCASTQ X0, Y0

four:
	VPAND    (DI)(BX*1), Y0, Y1
	VPCMPEQQ Y1, Y3, Y1
	VPTEST   Y1, Y1
	JNE      fit
	CMPQ     BX, R8
	JGE      next
	ADDQ     $32, BX
	CMPQ     BX, R8
	CMOVQGT  R8, BX
	JMP      four

one:
	CMPQ  BX, DX
	JGE   next
	TESTQ R9, (DI)(BX*1)
	JEQ   done
	ADDQ  $8, BX
	JMP   one

next:
	INCQ AX
	JMP  path

fit:
	VMOVMSKPD Y1, R10
	BSFL      R10, R10
	LEAQ      (BX)(R10*8), BX

done:
	RETURN

// func firstFitAVX512(paths []Sketch, tails []byte) (path, tail int)
//
// Eight tails at a time, the last ones, which may be fewer, under the mask K1. Z0 is
// R9 eight times.
TEXT ·firstFitAVX512(SB), NOSPLIT, $0-64
	FIRST
	LEAQ    -1(DX), R8
	ANDQ    $~63, R8
	CMOVQLT AX, R8
	MOVQ    DX, R10
	SUBQ    R8, R10
	SHRQ    $3, R10
	MOVL    $-1, R9
	BZHIL   R10, R9, R9
	KMOVB   R9, K1

path:
	BEGIN
	VPBROADCASTQ R9, Z0

eight:
	CMPQ      BX, R8
	JGE       last
	VPTESTNMQ (DI)(BX*1), Z0, K2
	KORTESTB  K2, K2
	JNE       fit
	ADDQ      $64, BX
	JMP       eight

last:
	VPTESTNMQ (DI)(BX*1), Z0, K1, K2
	KORTESTB  K2, K2
	JNE       fit
	INCQ      AX
	JMP       path

fit:
	KMOVB K2, R10
	BSFL  R10, R10
	LEAQ  (BX)(R10*8), BX

done:
	RETURN
