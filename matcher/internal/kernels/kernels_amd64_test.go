//go:build !purego

package kernels

import "golang.org/x/sys/cpu"

// signKernels are all implementations of Sign that this processor can run, by impl.
func signKernels(t *SignatureTable) map[string]func([]Signature, []byte, []Bounds) {
	kernels := map[string]func([]Signature, []byte, []Bounds){"asm": t.Sign, "go": t.signPortable}
	if cpu.X86.HasAVX2 {
		kernels["avx2"] = func(signatures []Signature, data []byte, texts []Bounds) {
			signAVX2(signatures, data, texts, &t.bits)
		}
	}
	return kernels
}
