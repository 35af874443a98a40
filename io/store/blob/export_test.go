package blob

// LimitKeys sets how many keys are listed at most, and of these kept.
func LimitKeys(listed, kept int) (restore func()) {
	before := [2]int{maxKeys, maxObjects}
	maxKeys, maxObjects = listed, kept
	return func() { maxKeys, maxObjects = before[0], before[1] }
}
