//go:build !purego

#include "textflag.h"

// OCTETS2 adds two octets' bits from the table to R8 and R9.
#define OCTETS2(i) \
	MOVBLZX i(SI), R10       \
	MOVBLZX i+1(SI), R11     \
	ORQ     (DI)(R10*8), R8  \
	ORQ     (DI)(R11*8), R9

// func sketchAVX2(s []byte, octetBits *[256]Sketch) Sketch
//
// Sixteen octets at a time, the last sixteen maybe some of them for the second
// time. SI is where, BX the last place for sixteen, X0 sixteen slashes, R12 the
// pairs' bits; AX has a bit for each slash of the sixteen. From DX on, one place
// before the last, the text may end less than two octets behind the sixteen:
// slashes are left to the last round, or nothing follows them.
TEXT ·sketchAVX2(SB), NOSPLIT, $0-40
	MOVQ         s_base+0(FP), SI
	MOVQ         s_len+8(FP), CX
	MOVQ         octetBits+24(FP), DI
	LEAQ         -16(SI)(CX*1), BX
	LEAQ         -1(BX), DX
	XORL         R8, R8
	XORL         R9, R9
	XORL         R12, R12
	MOVL         $0x2F2F2F2F, AX
	VMOVD        AX, X0
	VPBROADCASTD X0, X0

sixteen:
	VPCMPEQB  (SI), X0, X1
	VPMOVMSKB X1, AX
	CMPQ      SI, DX
	JLT       octets
	ANDL      $0x3FFF, AX

octets:
	OCTETS2(0)
	OCTETS2(2)
	OCTETS2(4)
	OCTETS2(6)
	OCTETS2(8)
	OCTETS2(10)
	OCTETS2(12)
	OCTETS2(14)
	TESTL AX, AX
	JEQ   next

pairs:
	BSFL    AX, R10
	MOVWLZX 1(SI)(R10*1), R11
	IMULL   $0x9E3779B1, R11
	SHRL    $27, R11
	BTSL    R11, R12
	LEAL    -1(AX), R10
	ANDL    R10, AX
	JNE     pairs

next:
	CMPQ    SI, BX
	JGE     done
	ADDQ    $16, SI
	CMPQ    SI, BX
	CMOVQGT BX, SI
	JMP     sixteen

done:
	ORQ  R9, R8
	SHLQ $30, R12
	ORQ  R12, R8
	MOVQ R8, ret+32(FP)
	RET
