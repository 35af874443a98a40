//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The signatures of texts; see sketch_amd64.go.
//
//	SI  where in the text       BX  its end
//	CX  the next text's Bounds  R15 those after the last one
//	R13 the next signature
//	R8  the bytes' bits        R12 the grams' bits, and the WorkBit if it is not in R8
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

// GRAM adds the bit of the gram at at; see gramBit.
#define GRAM(at) \
	MOVL    at, R11          \
	IMULL   $0x9E3779B1, R11 \
	SHRL    $27, R11         \
	BTSQ    R11, R12

// PUT stores the signature.
#define PUT \
	SHLQ $const_gramShift, R12 \
	ORQ  R12, R8               \
	MOVQ R8, (R13)             \
	ADDQ $8, R13

// BYTES2 adds two bytes' bits from the table to R8 and R9.
#define BYTES2(i) \
	MOVBLZX i(SI), R10       \
	MOVBLZX i+1(SI), R11     \
	ORQ     (DI)(R10*8), R8  \
	ORQ     (DI)(R11*8), R9

// func signAVX2(signatures []Signature, data []byte, texts []Bounds, byteBits *[256]Signature)
//
// Sixteen bytes at a time, the last sixteen of a text maybe some of them for
// the second time. From DX on, gramSize-1 places before the last, the text may end less
// than gramSize bytes behind the sixteen: slashes are left to the last round, or no
// gram follows them. A text of less than sixteen is taken byte by byte.
//
//	DI  byteBits               DX  BX - (gramSize - 1)
//	R8, R9  the bytes' bits    X0  sixteen slashes
TEXT ·signAVX2(SB), NOSPLIT, $0-80
	FIRST
	MOVQ         byteBits+72(FP), DI
	MOVL         $0x2F2F2F2F, AX
	VMOVD        AX, X0
	VPBROADCASTD X0, X0

text:
	BEGIN
	XORL R8, R8
	XORL R9, R9
	LEAQ -16(BX), DX
	CMPQ SI, DX
	JGT  byte
	MOVQ DX, BX
	SUBQ $(const_gramSize-1), DX

sixteen:
	VPCMPEQB  (SI), X0, X1
	VPMOVMSKB X1, AX
	CMPQ      SI, DX
	JLT       bytes
	ANDL      $(0xFFFF>>const_gramSize), AX

bytes:
	BYTES2(0)
	BYTES2(2)
	BYTES2(4)
	BYTES2(6)
	BYTES2(8)
	BYTES2(10)
	BYTES2(12)
	BYTES2(14)
	TESTL AX, AX
	JEQ   next

grams:
	BSFL AX, R10
	GRAM(1(SI)(R10*1))
	LEAL -1(AX), R10
	ANDL R10, AX
	JNE  grams

next:
	CMPQ    SI, BX
	JGE     finish
	ADDQ    $16, SI
	CMPQ    SI, BX
	CMOVQGT BX, SI
	JMP     sixteen

byte:
	CMPQ    SI, BX
	JGE     finish
	MOVBLZX (SI), R10
	ORQ     (DI)(R10*8), R8
	INCQ    SI
	CMPL    R10, $0x2F
	JNE     byte
	LEAQ    const_gramSize(SI), R11
	CMPQ    R11, BX
	JGT     byte
	GRAM((SI))
	JMP     byte

finish:
	ORQ R9, R8
	PUT
	JMP text

done:
	RET

// BITS sets to, in each of eight parts, to the bit of one byte of the part: rotating
// a one takes the lowest six bits of the byte's role and no others.
#define BITS(byte, to) \
	VPSRLQ  $(8*(byte)), Z0, to \
	VPROLVQ to, Z4, to

// BITS2 adds the bits of two bytes of each part to Z1.
#define BITS2(byte) \
	BITS(byte, Z2)   \
	BITS(byte+1, Z3) \
	VPTERNLOGQ $0xFE, Z2, Z3, Z1

// func signAVX512(signatures []Signature, data []byte, texts []Bounds, byteRoles *[128]uint8)
//
// Up to 64 bytes at a time, as though there were no others; the next ones begin
// gramSize bytes before the end of those, so that no slash is without its gram.
//
//	DX  the bytes' number      DI  64
//	R11 a bit for each byte    K3  one for each that is not in ASCII
//	Z0  bytes, their roles     Z1  the bytes' bits, in eight parts
//	Z4  a one in each part      Z5  slashes
//	Z6  bytes without a bit    Z9  their roles
//	Z7, Z8  byteRoles
TEXT ·signAVX512(SB), NOSPLIT, $0-80
	FIRST
	MOVQ         byteRoles+72(FP), AX
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
	SHRQ      $const_gramSize, R11
	ANDQ      R11, AX
	VPMOVB2M  Z0, K3
	VPERMI2B  Z8, Z7, Z0
	VPMOVB2M  Z0, K4
	KORTESTQ  K3, K4
	JNE       work

bytes:
	BITS2(0)
	BITS2(2)
	BITS2(4)
	BITS2(6)
	TESTQ AX, AX
	JEQ   next

grams:
	BSFQ  AX, R10
	GRAM(1(SI)(R10*1))
	BLSRQ AX, AX
	JNE   grams

next:
	ADDQ $64, SI
	CMPQ SI, BX
	JGE  finish
	SUBQ $const_gramSize, SI
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
	BTSQ     $(62-const_gramShift), R12 // WorkBit
	JMP      bytes

done:
	VZEROUPPER
	RET
