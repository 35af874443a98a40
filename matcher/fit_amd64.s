//go:build !purego

#include "textflag.h"

// func firstFitAVX2(paths []Sketch, tails []byte) (path, tail int)
//
// Four tails at a time, the last four maybe some of them for the second time;
// fewer than four one by one.
//
//	SI  paths           CX  their number       AX  number of the path
//	DI  tails           DX  their octets       R8  where the last four begin
//	BX  octets before the next tail
//	R9, Y0 what the path's sketch has not      Y3 zeros
TEXT ·firstFitAVX2(SB), NOSPLIT, $0-64
	MOVQ  paths_base+0(FP), SI
	MOVQ  paths_len+8(FP), CX
	MOVQ  tails_base+24(FP), DI
	MOVQ  tails_len+32(FP), DX
	LEAQ  -32(DX), R8
	VPXOR Y3, Y3, Y3
	XORL  AX, AX

path:
	XORL  BX, BX
	CMPQ  AX, CX
	JGE   done
	MOVQ  (SI)(AX*8), R9
	MOVQ  R9, R10
	SHRQ  $62, R10             // hardBits
	JNE   done
	NOTQ  R9
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
	VZEROUPPER
	SHRQ $3, BX
	MOVQ AX, path+48(FP)
	MOVQ BX, tail+56(FP)
	RET
