//go:build !purego

#include "textflag.h"

// OCTETS2 adds two octets' bits from the table to R8 and R9.
#define OCTETS2(i) \
	MOVBLZX i(SI), R10       \
	MOVBLZX i+1(SI), R11     \
	ORQ     (DI)(R10*8), R8  \
	ORQ     (DI)(R11*8), R9

// func sketchAllAVX2(sketches []Sketch, data []byte, texts []bounds, octetBits *[256]Sketch)
//
// Sixteen octets at a time, the last sixteen of a text maybe some of them for
// the second time. From DX on, one place before the last, the text may end less
// than two octets behind the sixteen: slashes are left to the last round, or
// nothing follows them. A text of less than sixteen is taken octet by octet.
//
//	SI  where in the text       BX  the last place in it for sixteen, or its end
//	DI  octetBits               DX  BX - 1
//	R8, R9  the octets' bits    R12 the pairs' bits
//	AX  a bit for each slash    X0  sixteen slashes
//	CX  the next text's bounds  R15 those after the last one
//	R13 the next sketch
TEXT ·sketchAllAVX2(SB), NOSPLIT, $0-80
	MOVQ         sketches_base+0(FP), R13
	MOVQ         texts_base+48(FP), CX
	MOVQ         texts_len+56(FP), R15
	MOVQ         octetBits+72(FP), DI
	SHLQ         $4, R15
	ADDQ         CX, R15
	MOVL         $0x2F2F2F2F, AX
	VMOVD        AX, X0
	VPBROADCASTD X0, X0

text:
	CMPQ CX, R15
	JGE  done
	MOVQ data_base+24(FP), SI
	MOVQ 8(CX), BX
	ADDQ SI, BX
	ADDQ (CX), SI
	ADDQ $16, CX
	XORL R8, R8
	XORL R9, R9
	XORL R12, R12
	LEAQ -16(BX), DX
	CMPQ SI, DX
	JGT  octet
	MOVQ DX, BX
	DECQ DX

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
	JGE     finish
	ADDQ    $16, SI
	CMPQ    SI, BX
	CMOVQGT BX, SI
	JMP     sixteen

octet:
	CMPQ    SI, BX
	JGE     finish
	MOVBLZX (SI), R10
	ORQ     (DI)(R10*8), R8
	INCQ    SI
	CMPL    R10, $0x2F
	JNE     octet
	LEAQ    1(SI), R11
	CMPQ    R11, BX
	JGE     octet
	MOVWLZX (SI), R11
	IMULL   $0x9E3779B1, R11
	SHRL    $27, R11
	BTSL    R11, R12
	JMP     octet

finish:
	ORQ  R9, R8
	SHLQ $30, R12
	ORQ  R12, R8
	MOVQ R8, (R13)
	ADDQ $8, R13
	JMP  text

done:
	RET
