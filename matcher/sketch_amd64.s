//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The sketches of texts; see sketch_amd64.go.
//
//	SI  where in the text       BX  its end
//	CX  the next text's bounds  R15 those after the last one
//	R13 the next sketch
//	R8  the octets' bits        R12 the heads' bits, and the workBit if it is not in R8
//	AX  a bit for each slash    R10, R11 for a while

// FIRST is the first text.
#define FIRST \
	MOVQ sketches_base+0(FP), R13 \
	MOVQ texts_base+48(FP), CX    \
	MOVQ texts_len+56(FP), R15    \
	SHLQ $4, R15                  \
	ADDQ CX, R15

// BEGIN goes to done unless there is another text, and to where it begins.
#define BEGIN \
	CMPQ CX, R15              \
	JGE  done                 \
	MOVQ data_base+24(FP), SI \
	MOVQ 8(CX), BX            \
	ADDQ SI, BX               \
	ADDQ (CX), SI             \
	ADDQ $16, CX              \
	XORL R12, R12

// HEAD adds the bit of the head at at; see headBit.
#define HEAD(at) \
	MOVL    at, R11          \
	IMULL   $0x9E3779B1, R11 \
	SHRL    $27, R11         \
	BTSQ    R11, R12

// PUT stores the sketch.
#define PUT \
	SHLQ $const_headShift, R12 \
	ORQ  R12, R8               \
	MOVQ R8, (R13)             \
	ADDQ $8, R13

// OCTETS2 adds two octets' bits from the table to R8 and R9.
#define OCTETS2(i) \
	MOVBLZX i(SI), R10       \
	MOVBLZX i+1(SI), R11     \
	ORQ     (DI)(R10*8), R8  \
	ORQ     (DI)(R11*8), R9

// func sketchAllAVX2(sketches []Sketch, data []byte, texts []bounds, octetBits *[256]Sketch)
//
// Sixteen octets at a time, the last sixteen of a text maybe some of them for
// the second time. From DX on, headSize-1 places before the last, the text may end less
// than headSize octets behind the sixteen: slashes are left to the last round, or no
// head follows them. A text of less than sixteen is taken octet by octet.
//
//	DI  octetBits               DX  BX - (headSize - 1)
//	R8, R9  the octets' bits    X0  sixteen slashes
TEXT ·sketchAllAVX2(SB), NOSPLIT, $0-80
	FIRST
	MOVQ         octetBits+72(FP), DI
	MOVL         $0x2F2F2F2F, AX
	VMOVD        AX, X0
	VPBROADCASTD X0, X0

text:
	BEGIN
	XORL R8, R8
	XORL R9, R9
	LEAQ -16(BX), DX
	CMPQ SI, DX
	JGT  octet
	MOVQ DX, BX
	SUBQ $(const_headSize-1), DX

sixteen:
	VPCMPEQB  (SI), X0, X1
	VPMOVMSKB X1, AX
	CMPQ      SI, DX
	JLT       octets
	ANDL      $(0xFFFF>>const_headSize), AX

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

heads:
	BSFL AX, R10
	HEAD(1(SI)(R10*1))
	LEAL -1(AX), R10
	ANDL R10, AX
	JNE  heads

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
	LEAQ    const_headSize(SI), R11
	CMPQ    R11, BX
	JGT     octet
	HEAD((SI))
	JMP     octet

finish:
	ORQ R9, R8
	PUT
	JMP text

done:
	RET

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
// headSize octets before the end of those, so that no slash is without its head.
//
//	DX  the octets' number      DI  64
//	R11 a bit for each octet    K3  one for each that is not in ASCII
//	Z0  octets, their roles     Z1  the octets' bits, in eight parts
//	Z4  a one in each part      Z5  slashes
//	Z6  octets without a bit    Z9  their roles
//	Z7, Z8  octetRoles
TEXT ·sketchAllAVX512(SB), NOSPLIT, $0-80
	FIRST
	MOVQ         octetRoles+72(FP), AX
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
	MOVL         $64, DI

text:
	BEGIN
	VPXORQ X1, X1, X1

block:
	MOVQ      BX, DX
	SUBQ      SI, DX
	CMPQ      DX, DI
	CMOVQGT   DI, DX
	MOVQ      $-1, R11
	BZHIQ     DX, R11, R11
	KMOVQ     R11, K1
	VMOVDQA64 Z6, Z0
	VMOVDQU8  (SI), K1, Z0
	VPCMPEQB  Z0, Z5, K2
	KMOVQ     K2, AX
	SHRQ      $const_headSize, R11
	ANDQ      R11, AX
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
	TESTQ AX, AX
	JEQ   next

heads:
	BSFQ  AX, R10
	HEAD(1(SI)(R10*1))
	BLSRQ AX, AX
	JNE   heads

next:
	ADDQ $64, SI
	CMPQ SI, BX
	JGE  finish
	SUBQ $const_headSize, SI
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
	PUT
	JMP           text

work:
	VMOVDQU8 Z9, K3, Z0
	BTSQ     $(62-const_headShift), R12 // workBit
	JMP      octets

done:
	VZEROUPPER
	RET
