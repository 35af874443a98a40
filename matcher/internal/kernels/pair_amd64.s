//go:build !purego

#include "textflag.h"

// PLACES looks at so many places at once: in A, whether first is there, in B
// whether last is there behind it.
#define PLACES(FIRST, LAST, A, B) \
	VPCMPEQB  (SI), FIRST, A       \
	VPCMPEQB  (SI)(DX*1), LAST, B  \
	VPAND     A, B, A              \
	VPMOVMSKB A, AX                \
	TESTL     AX, AX               \
	JNE       found

// func indexPairAVX2(s []byte, gap int, first, last byte) int
//
// Thirty-two places at a time, or sixteen if there are not that many; the last
// ones maybe some of them for the second time.
//
//	SI  the places to look at      DX  gap
//	BX  the last place to look from    DI  s
//	Y0  first                      Y1  last
TEXT ·indexPairAVX2(SB), NOSPLIT, $0-48
	MOVQ         s_base+0(FP), SI
	MOVQ         s_len+8(FP), BX
	MOVQ         gap+24(FP), DX
	VPBROADCASTB first+32(FP), Y0
	VPBROADCASTB last+33(FP), Y1
	MOVQ         SI, DI
	SUBQ         DX, BX
	ADDQ         SI, BX
	SUBQ         $32, BX
	CMPQ         SI, BX
	JGT          sixteen

thirtyTwo:
	PLACES(Y0, Y1, Y2, Y3)
	CMPQ    SI, BX
	JGE     none
	ADDQ    $32, SI
	CMPQ    SI, BX
	CMOVQGT BX, SI
	JMP     thirtyTwo

sixteen:
	PLACES(X0, X1, X2, X3)
	LEAQ 16(BX), SI
	PLACES(X0, X1, X2, X3)

none:
	VZEROUPPER
	MOVQ $-1, ret+40(FP)
	RET

found:
	VZEROUPPER
	BSFL AX, AX
	SUBQ DI, SI
	ADDQ SI, AX
	MOVQ AX, ret+40(FP)
	RET
