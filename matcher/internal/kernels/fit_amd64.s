//go:build !purego

#include "textflag.h"

// The first path's signature that has all bits of a suffix's; see FirstFit.
//
//	SI  paths           CX  their number       AX  number of the path
//	DI  suffixes        DX  their bytes        R8  where the last ones that are
//	BX  bytes before the next suffix           looked at together begin
//	R9  what the path's signature has not

// FIRST is the first path.
#define FIRST \
	MOVQ paths_base+0(FP), SI  \
	MOVQ paths_len+8(FP), CX   \
	MOVQ suffixes_base+24(FP), DI \
	MOVQ suffixes_len+32(FP), DX  \
	XORL AX, AX

// BEGIN goes to done unless there is a path and it has no HardBits, and to its first
// suffix.
#define BEGIN \
	XORL BX, BX         \
	CMPQ AX, CX         \
	JGE  done           \
	MOVQ (SI)(AX*8), R9 \
	MOVQ R9, R10        \
	SHRQ $62, R10       \
	JNE  done           \
	NOTQ R9

// func firstFitAVX2(paths []Signature, suffixes []byte) (path int)
//
// Four suffixes at a time, the last four maybe some of them for the second time;
// fewer than four one by one. Y0 is R9 four times, Y3 zeros.
TEXT ·firstFitAVX2(SB), NOSPLIT, $0-56
	FIRST
	LEAQ  -32(DX), R8
	VPXOR Y3, Y3, Y3

path:
	BEGIN
	TESTQ R8, R8
	JLT   one
	VMOVQ R9, X0
	VPBROADCASTQ X0, Y0

four:
	VPAND    (DI)(BX*1), Y0, Y1
	VPCMPEQQ Y1, Y3, Y1
	VPTEST   Y1, Y1
	JNE      done
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

done:
	VZEROUPPER
	MOVQ AX, path+48(FP)
	RET
