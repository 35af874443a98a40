//go:build !purego

#include "textflag.h"

// func firstFitAVX512(paths []Sketch, tails []byte) (path, tail int)
//
// Eight tails at a time, the last ones, which may be fewer, under a mask.
//
//	SI  paths           CX  their number       AX  number of the path
//	DI  tails           DX  their number       R8  number of the first of the last ones
//	BX  number of the next tail
//	R9, Z0 what the path's sketch has not      K1  the mask
TEXT ·firstFitAVX512(SB), NOSPLIT, $0-64
	MOVQ    paths_base+0(FP), SI
	MOVQ    paths_len+8(FP), CX
	MOVQ    tails_base+24(FP), DI
	MOVQ    tails_len+32(FP), DX
	SHRQ    $3, DX
	XORL    AX, AX
	LEAQ    -1(DX), R8
	ANDQ    $~7, R8
	CMOVQLT AX, R8
	MOVQ    DX, R10
	SUBQ    R8, R10
	MOVL    $-1, R9
	BZHIL   R10, R9, R9
	KMOVB   R9, K1

path:
	XORL         BX, BX
	CMPQ         AX, CX
	JGE          done
	MOVQ         (SI)(AX*8), R9
	MOVQ         R9, R10
	SHRQ         $62, R10          // hardBits
	JNE          done
	NOTQ         R9
	VPBROADCASTQ R9, Z0

eight:
	CMPQ       BX, R8
	JGE        last
	VPTESTNMQ  (DI)(BX*8), Z0, K2
	KORTESTB   K2, K2
	JNE        fit
	ADDQ       $8, BX
	JMP        eight

last:
	VPTESTNMQ (DI)(BX*8), Z0, K1, K2
	KORTESTB  K2, K2
	JNE       fit
	INCQ      AX
	JMP       path

fit:
	KMOVB K2, R10
	BSFL  R10, R10
	ADDQ  R10, BX

done:
	VZEROUPPER
	MOVQ AX, path+48(FP)
	MOVQ BX, tail+56(FP)
	RET
