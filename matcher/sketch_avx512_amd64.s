//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// BITS sets to, in each of eight parts, to the bit of one octet of the part: rotating
// a one takes the lowest six bits of the octet's role and no others.
#define BITS(octet, to) \
	VPSRLQ  $(8*(octet)), Z0, to \
	VPROLVQ to, Z4, to

// BITS2 adds the bits of two octets of each part to Z1.
#define BITS2(octet) \
	BITS(octet, Z2)   \
	BITS(octet+1, Z3) \
	VPTERNLOGQ $0xFE, Z2, Z3, Z1

// func sketchAllAVX512(sketches []Sketch, data []byte, texts []bounds, octetRoles *[128]uint8)
//
// Up to 64 octets at a time, as though there were no others; the next ones begin
// two octets before the end of those, so that no slash is without what follows it.
//
//	SI  where in the text       BX  its end
//	DI  data                    R12 the pairs' bits
//	CX  the next text's bounds  R15 those after the last one
//	R13 the next sketch
//	DX  the octets' number      AX  a bit for each
//	R11 a bit for each slash    R9  64
//	Z0  octets, their roles     Z1  the octets' bits, in eight parts
//	Z4  a one in each part      Z5  slashes
//	Z6  octets without a bit    Z9  their roles
//	Z7, Z8  octetRoles          K3  a bit for each octet not in ASCII
TEXT ·sketchAllAVX512(SB), NOSPLIT, $0-80
	MOVQ         sketches_base+0(FP), R13
	MOVQ         data_base+24(FP), DI
	MOVQ         texts_base+48(FP), CX
	MOVQ         texts_len+56(FP), R15
	MOVQ         octetRoles+72(FP), AX
	SHLQ         $4, R15
	ADDQ         CX, R15
	VMOVDQU64    (AX), Z7
	VMOVDQU64    64(AX), Z8
	MOVL         $0x2F2F2F2F, AX
	VPBROADCASTD AX, Z5
	MOVL         $0x61616161, AX
	VPBROADCASTD AX, Z6
	MOVL         $(const_noBit*0x01010101), AX
	VPBROADCASTD AX, Z9
	MOVL         $1, AX
	VPBROADCASTQ AX, Z4
	MOVL         $64, R9

text:
	CMPQ   CX, R15
	JGE    done
	MOVQ   (CX), SI
	MOVQ   8(CX), BX
	ADDQ   DI, SI
	ADDQ   DI, BX
	ADDQ   $16, CX
	XORL   R12, R12
	VPXORQ X1, X1, X1

block:
	MOVQ      BX, DX
	SUBQ      SI, DX
	CMPQ      DX, R9
	CMOVQGT   R9, DX
	MOVQ      $-1, AX
	BZHIQ     DX, AX, AX
	KMOVQ     AX, K1
	VMOVDQA64 Z6, Z0
	VMOVDQU8  (SI), K1, Z0
	VPCMPEQB  Z0, Z5, K2
	KMOVQ     K2, R11
	SHRQ      $2, AX
	ANDQ      AX, R11
	VPMOVB2M  Z0, K3
	VPERMI2B  Z8, Z7, Z0
	VPMOVB2M  Z0, K4
	KORTESTQ  K3, K4
	JNE       work

octets:
	BITS2(0)
	BITS2(2)
	BITS2(4)
	BITS2(6)
	TESTQ R11, R11
	JEQ   next

pairs:
	BSFQ    R11, R10
	MOVWLZX 1(SI)(R10*1), AX
	IMULL   $0x9E3779B1, AX
	SHRL    $27, AX
	BTSQ    AX, R12
	BLSRQ   R11, R11
	JNE     pairs

next:
	ADDQ $64, SI
	CMPQ SI, BX
	JGE  finish
	SUBQ $2, SI
	JMP  block

finish:
	VEXTRACTI64X4 $1, Z1, Y2
	VPORQ         Y2, Y1, Y1
	VEXTRACTI128  $1, Y1, X2
	VPOR          X2, X1, X1
	VPSHUFD       $0xEE, X1, X2
	VPOR          X2, X1, X1
	VMOVQ         X1, R8
	BTRQ          $const_noBit, R8
	SHLQ          $const_pairShift, R12
	ORQ           R12, R8
	MOVQ          R8, (R13)
	ADDQ          $8, R13
	JMP           text

work:
	VMOVDQU8 Z9, K3, Z0
	BTSQ     $(62-const_pairShift), R12 // workBit
	JMP      octets

done:
	VZEROUPPER
	RET
