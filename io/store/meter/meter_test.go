package meter

import (
	"sync"
	"testing"

	"robotsbatch/io/store/must"
)

func TestStep(t *testing.T) {
	var mu sync.Mutex
	var most Reading
	ctx := With(t.Context(), func(r Reading) {
		mu.Lock()
		defer mu.Unlock()
		if r.Done > most.Done {
			most = r
		}
	})
	step := Start(ctx, "reading", Bytes, 1000)
	var group sync.WaitGroup
	for range 4 {
		part := step.Part(250)
		group.Go(func() {
			for i := range 101 {
				part.To(float64(i) / 100)
				part.To(0.1) // never back
			}
			part.To(7)
		})
	}
	group.Wait()
	must.Be(t, most.Done == 1000 && most.Total == 1000 && most.What == "reading" && most.Unit == Bytes && !most.Started.IsZero(), "%+v", most)
}

func TestNobodyLooks(t *testing.T) {
	step := Start(t.Context(), "reading", Files, 3)
	must.Need(t, step == nil, "a step that nobody looks at")
	step.Add(1)
	step.Part(10).To(1)
}
