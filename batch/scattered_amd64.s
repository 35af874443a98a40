//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// What is kept of many URLs; see scattered_amd64.go. The hash is that of place.go.
//
//	SI  starts          DI  data             CX  the last place to load 64 octets from
//	R8  offsets         R13 hashes           R14 number of the URL
//	DX  URL             R10 where it starts  R11 its length
//	AX  where its path begins, behind beforeHost
//	R9  placeOdd        R12 hash             Y15 slashes
//
// Whether a beginning is kept for one octet or for two nobody can foretell, so it takes
// a place without a branch: those of the next URLs are on their way meanwhile.

// PLACE is the number of a hash's place.
#define PLACE(hash, number) \
	MOVQ hash, number          \
	SHRQ $(64-const_placeBits), number

// LOOK sets the carry flag if the URL begins with what is kept in the place of a hash.
// All 64 octets of both are compared, of which the first that differ must lie behind
// the beginning. The last one is its length; that of none is above all others when one
// less.
#define LOOK(hash) \
	PLACE(hash, R10)             \
	SHLQ      $6, R10            \
	VMOVDQU   (SI)(R10*1), Y0    \
	VMOVDQU   32(SI)(R10*1), Y1  \
	MOVBLZX   63(SI)(R10*1), R10 \
	VPCMPEQB  (DX), Y0, Y0       \
	VPCMPEQB  32(DX), Y1, Y1     \
	VPMOVMSKB Y0, R15            \
	VPMOVMSKB Y1, BX             \
	SHLQ      $32, BX            \
	ORQ       BX, R15            \
	NOTQ      R15                \
	BTSQ      $63, R15           \
	BSFQ      R15, R15           \
	CMPQ      R15, R11           \
	CMOVQGT   R11, R15           \
	DECQ      R10                \
	CMPQ      R10, R15

#define RECALLALL(LOAD, SIZE) \
	MOVQ         starts+0(FP), SI         \
	MOVQ         data_base+8(FP), DI      \
	MOVQ         data_len+16(FP), CX      \
	SUBQ         $64, CX                  \
	MOVQ         offsets_base+32(FP), R8  \
	MOVQ         hashes_base+56(FP), R13  \
	MOVQ         $0x9E3779B97F4A7C15, R9  \
	MOVL         $0x2F2F2F2F, AX          \
	VMOVD        AX, X15                  \
	VPBROADCASTD X15, Y15                 \
	XORL         R14, R14                 \
next:                                         \
	CMPQ         R14, hashes_len+64(FP)   \
	JGE          end                      \
	LOAD         (R8)(R14*SIZE), R10      \
	LOAD         SIZE(R8)(R14*SIZE), R11  \
	CMPQ         R10, CX                  \
	JGT          end                      \
	SUBQ         R10, R11                 \
	LEAQ         (DI)(R10*1), DX          \
	XORL         R12, R12                 \
	VPCMPEQB     8(DX), Y15, Y0           \
	VPMOVMSKB    Y0, AX                   \
	TESTL        AX, AX                   \
	JEQ          store                    \
	BSFL         AX, AX                   \
	CMPL         AX, $6                   \
	JLT          store                    \
	LEAQ         10(AX), R10              \
	CMPQ         R10, R11                 \
	JGT          store                    \
	SHRQ         $1, R10                  \
	MOVQ         8(DX), R12               \
	IMULQ        R9, R12                  \
	ROLQ         $32, R12                 \
	XORQ         (DX)(R10*1), R12         \
	IMULQ        R9, R12                  \
	ROLQ         $32, R12                 \
	MOVQ         R12, BX                  \
	XORQ         2(DX)(AX*1), R12         \
	IMULQ        R9, R12                  \
	ANDQ         $~2, R12                 \
	ORQ          $1, R12                  \
	LEAQ         11(AX), R10              \
	XORQ         3(DX)(AX*1), BX          \
	IMULQ        R9, BX                   \
	ORQ          $1, BX                   \
	MOVQ         R12, AX                  \
	CMPQ         R10, R11                 \
	CMOVQLE      BX, AX                   \
	PLACE(AX, R10)                        \
	MOVQ         AX, R15                  \
	SHRQ         $32, R15                 \
	CMPW         R15, beginnings_marks(SI)(R10*2) \
	CMOVQNE      R12, AX                  \
	ORQ          $2, AX                   \
	LOOK(AX)                              \
	CMOVQCS      AX, R12                  \
store:                                        \
	MOVQ         R12, (R13)(R14*8)        \
	INCQ         R14                      \
	JMP          next                     \
end:                                          \
	MOVQ         R14, done+80(FP)         \
	VZEROUPPER                            \
	RET

// func recallAll32(starts *[places]beginning, data []byte, offsets []int32, hashes []uint64) (done int)
TEXT ·recallAll32(SB), NOSPLIT, $0-88
	RECALLALL(MOVLQSX, 4)

// func recallAll64(starts *[places]beginning, data []byte, offsets []int64, hashes []uint64) (done int)
TEXT ·recallAll64(SB), NOSPLIT, $0-88
	RECALLALL(MOVQ, 8)
