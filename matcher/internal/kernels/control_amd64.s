//go:build !purego

#include "textflag.h"

// The greatest byte that is looked for, '\r', in each place.
DATA carriageReturns<>+0(SB)/8, $0x0D0D0D0D0D0D0D0D
DATA carriageReturns<>+8(SB)/8, $0x0D0D0D0D0D0D0D0D
DATA carriageReturns<>+16(SB)/8, $0x0D0D0D0D0D0D0D0D
DATA carriageReturns<>+24(SB)/8, $0x0D0D0D0D0D0D0D0D
GLOBL carriageReturns<>(SB), RODATA|NOPTR, $32

// func mayHaveControl(data []byte) bool
//
// The least byte of each place is kept while 128 bytes are gone through at
// once, then 32; the last 32 may overlap those before. SI is where, AX the last
// place for a load of 32, and BX for the four of a round.
TEXT ·mayHaveControl(SB), NOSPLIT, $0-25
	MOVQ    data_base+0(FP), SI
	MOVQ    data_len+8(FP), CX
	LEAQ    -32(SI)(CX*1), AX
	LEAQ    -128(SI)(CX*1), BX
	VMOVDQU (AX), Y0
	VMOVDQA Y0, Y1
	VMOVDQA Y0, Y2
	VMOVDQA Y0, Y3
	CMPQ    SI, BX
	JGT     rest

round:
	VPMINUB (SI), Y0, Y0
	VPMINUB 32(SI), Y1, Y1
	VPMINUB 64(SI), Y2, Y2
	VPMINUB 96(SI), Y3, Y3
	ADDQ    $128, SI
	CMPQ    SI, BX
	JLE     round

rest:
	CMPQ    SI, AX
	JGE     decide
	VPMINUB (SI), Y0, Y0
	ADDQ    $32, SI
	JMP     rest

decide:
	VPMINUB   Y1, Y0, Y0
	VPMINUB   Y3, Y2, Y2
	VPMINUB   Y2, Y0, Y0
	VPMINUB   carriageReturns<>(SB), Y0, Y1
	VPCMPEQB  Y0, Y1, Y0
	VPMOVMSKB Y0, AX
	TESTL     AX, AX
	SETNE     ret+24(FP)
	VZEROUPPER
	RET
