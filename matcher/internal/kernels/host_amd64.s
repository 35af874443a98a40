//go:build !purego

#include "textflag.h"

DATA lowNibbles<>+0(SB)/8, $0x0F0F0F0F0F0F0F0F
DATA lowNibbles<>+8(SB)/8, $0x0F0F0F0F0F0F0F0F
DATA lowNibbles<>+16(SB)/8, $0x0F0F0F0F0F0F0F0F
DATA lowNibbles<>+24(SB)/8, $0x0F0F0F0F0F0F0F0F
GLOBL lowNibbles<>(SB), RODATA|NOPTR, $32

// func plainHostAVX2(url []byte, nibbles *[64]byte) int
//
// AX is how many bytes are a host's, DX has a bit for each dot of them, and one
// before the first and behind the last byte: two side by side are an empty
// label. An byte of 0x80 and more is none of a host's: what VPSHUFB makes of it
// in the first row is 0.
TEXT ·plainHostAVX2(SB), NOSPLIT, $0-40
	MOVQ         url_base+0(FP), SI
	MOVQ         nibbles+24(FP), DI
	VMOVDQU      (SI), Y0
	VMOVDQU      (DI), Y1
	VMOVDQU      32(DI), Y2
	VPSHUFB      Y0, Y1, Y1
	VPSRLW       $4, Y0, Y3
	VPAND        lowNibbles<>(SB), Y3, Y3
	VPSHUFB      Y3, Y2, Y2
	VPAND        Y1, Y2, Y1
	VPXOR        Y3, Y3, Y3
	VPCMPEQB     Y3, Y1, Y1
	VPMOVMSKB    Y1, AX
	MOVL         $0x2E2E2E2E, DX
	VMOVD        DX, X3
	VPBROADCASTD X3, Y3
	VPCMPEQB     Y3, Y0, Y0
	VPMOVMSKB    Y0, DX
	VZEROUPPER
	TESTL        AX, AX
	JEQ          none
	BSFL         AX, AX
	LEAQ         1(DX)(DX*1), DX
	LEAQ         1(AX), CX
	BTSQ         CX, DX
	LEAQ         2(AX), CX
	MOVQ         $-1, R8
	SHLQ         CX, R8
	NOTQ         R8
	ANDQ         R8, DX
	MOVQ         DX, CX
	SHRQ         $1, CX
	TESTQ        CX, DX
	JNE          none
	MOVQ         AX, ret+32(FP)
	RET

none:
	MOVQ $0, ret+32(FP)
	RET
