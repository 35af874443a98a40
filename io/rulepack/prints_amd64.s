//go:build !purego

#include "textflag.h"

// Finds a fingerprint; see prints_amd64.go. Sixteen are compared at once, the last
// time with what lies behind them, where one that is found counts for nothing.
//
//	SI  fingerprints    CX  their octets    AX  those that were compared
//	Y0  the one that is looked for, sixteen times

// func firstPrintAVX2(prints []byte, print uint16) int
TEXT ·firstPrintAVX2(SB), NOSPLIT, $0-40
	MOVQ         prints_base+0(FP), SI
	MOVQ         prints_len+8(FP), CX
	VPBROADCASTW print+24(FP), Y0
	XORL         AX, AX

next:
	CMPQ      AX, CX
	JGE       done
	VPCMPEQW  (SI)(AX*1), Y0, Y1
	VPMOVMSKB Y1, BX
	TESTL     BX, BX
	JNE       found
	ADDQ      $32, AX
	JMP       next

found:
	BSFL BX, BX
	ADDQ BX, AX

done:
	VZEROUPPER
	CMPQ    AX, CX
	CMOVQGT CX, AX
	SHRQ    $1, AX
	MOVQ    AX, ret+32(FP)
	RET
