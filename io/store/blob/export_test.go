package blob

// LimitKeys sets how many keys are listed at most.
func LimitKeys(listed int) (restore func()) {
	before := maxKeys
	maxKeys = listed
	return func() { maxKeys = before }
}
