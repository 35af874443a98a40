//go:build !purego

#include "textflag.h"

// func placeAVX2(url []byte) uint64
//
// SI is the URL, AX where its path begins, from SI+8 on, R9 the odd number and
// R8 the hash.
TEXT ·placeAVX2(SB), NOSPLIT, $0-32
	MOVQ         url_base+0(FP), SI
	MOVL         $0x2F2F2F2F, AX
	VMOVD        AX, X0
	VPBROADCASTD X0, Y0
	VPCMPEQB     8(SI), Y0, Y0
	VPMOVMSKB    Y0, AX
	VZEROUPPER
	XORL         R8, R8
	TESTL        AX, AX
	JEQ          done
	BSFL         AX, AX
	CMPL         AX, $6
	JLT          done
	LEAQ         10(AX), DX
	CMPQ         DX, url_len+8(FP)
	JGT          done
	SHRQ         $1, DX
	MOVQ         $0x9E3779B97F4A7C15, R9
	MOVQ         8(SI), R8
	IMULQ        R9, R8
	ROLQ         $32, R8
	XORQ         (SI)(DX*1), R8
	IMULQ        R9, R8
	ROLQ         $32, R8
	XORQ         2(SI)(AX*1), R8
	IMULQ        R9, R8
	ORQ          $1, R8

done:
	MOVQ R8, ret+24(FP)
	RET
