package tables

import "testing"

// A buffer of no values may be smaller than one of them.
func TestMoveNothing(t *testing.T) {
	small := make([]byte, 0, 1)
	if kept, err := Valid(nil).MoveViews(small, 1); err != nil || len(kept) != 1 || len(kept[0]) > 0 {
		t.Errorf("views: %v, %v", kept, err)
	}
	if kept, err := Valid(nil).MoveLists(small, small, 8); err != nil || len(kept) > 0 {
		t.Errorf("lists: %v, %v", kept, err)
	}
}
