package must_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"robotsbatch/io/store/must"
)

// recorder is a test that keeps what is reported, and whether it is to end.
type recorder struct {
	testing.TB
	said  string
	ended bool
}

func (r *recorder) Helper()                      {}
func (r *recorder) Error(args ...any)            { r.said += fmt.Sprint(args...) }
func (r *recorder) Errorf(f string, args ...any) { r.said += fmt.Sprintf(f, args...) }
func (r *recorder) Fatalf(f string, args ...any) {
	r.said, r.ended = r.said+fmt.Sprintf(f, args...), true
}

func (r *recorder) Fatal(args ...any) { r.said, r.ended = r.said+fmt.Sprint(args...), true }

// Each check reports what is wrong, and nothing else.
func TestChecks(t *testing.T) {
	broken := fmt.Errorf("a.txt: %w", fs.ErrNotExist)
	for want, check := range map[string]func(testing.TB){
		"": func(t testing.TB) {
			must.Do(t, nil)
			must.Equal(t, must.Get(1, nil)(t), 1)
			must.EqualSlices(t, []int(nil), []int{})
			must.Be(t, true, "%d rows", 3)
			must.Need(t, true, "no rows")
		},
		" ": func(t testing.TB) {
			must.DeepEqual(t, []int{1}, []int{1})
			must.Fail(t, broken)
			must.Say(t, broken, "a.txt")
			must.Is(t, broken, fs.ErrNotExist)
			t.Error(" ")
		},
		"a.txt: file does not exist, ended":  func(t testing.TB) { must.Do(t, broken) },
		"broken, ended":                      func(t testing.TB) { must.Get(1, errors.New("broken"))(t) },
		"3 rows":                             func(t testing.TB) { must.Be(t, false, "%d rows", 3) },
		"no rows, ended":                     func(t testing.TB) { must.Need(t, false, "%s rows", "no") },
		"row 3: 1, want 2":                   func(t testing.TB) { must.Equal(t, 1, 2, "row", 3) },
		`"a", want "b"`:                      func(t testing.TB) { must.Equal(t, "a", "b") },
		"got\na\nb\nwant\nc":                 func(t testing.TB) { must.Equal(t, "a\nb", "c") },
		`["a"], want []`:                     func(t testing.TB) { must.EqualSlices(t, []string{"a"}, nil) },
		"[], want []":                        func(t testing.TB) { must.DeepEqual(t, []int(nil), []int{}) },
		"x: no error":                        func(t testing.TB) { must.Fail(t, must.Err(1, nil), "x") },
		`error <nil>, want one that says ""`: func(t testing.TB) { must.Say(t, nil, "") },
		`error a.txt: file does not exist, want one that says "b"`:   func(t testing.TB) { must.Say(t, broken, "b") },
		"error a.txt: file does not exist, want file already exists": func(t testing.TB) { must.Is(t, broken, fs.ErrExist) },
	} {
		r := &recorder{TB: t}
		check(r)
		if got := r.said + map[bool]string{true: ", ended"}[r.ended]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
