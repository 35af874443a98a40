//go:build !amd64 || purego

package kernels

// signKernels are all implementations of Sign that this processor can run, by impl.
func signKernels(t *SignatureTable) map[string]func([]Signature, []byte, []Bounds) {
	return map[string]func([]Signature, []byte, []Bounds){"go": t.signPortable}
}
