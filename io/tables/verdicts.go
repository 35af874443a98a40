package tables

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/matcher"
)

// verdictColumn returns a verdict column of the output rows.
func (g gatherer) verdictColumn(column batch.VerdictColumn, v *batch.Verdicts, runs []run) (*array.Data, error) {
	switch {
	case column.Kind.HasFacts():
		return g.factsColumn(column, v, runs)
	case column.Kind.IsAgents():
		return g.agents(column, v, runs)
	}
	switch column.Kind {
	case batch.RegisteredDomainColumn:
		return g.domains(column.Name, v, runs)
	case batch.AuthorityHashColumn:
		return g.hashes(column.Name, v, runs)
	}
	agent := &v.Agents[column.Agent]
	if column.Kind == batch.AllowedColumn {
		return g.verdicts(agent, runs), nil
	}
	if len(agent.Reasons) < v.Rows || len(agent.Rules) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts have no explanations", column.Name)
	}
	index := make([]int32, 0, countRows(runs))
	if column.Kind == batch.ReasonColumn {
		for _, r := range runs {
			for _, reason := range agent.Reasons[r.low:r.high] {
				index = append(index, int32(reason))
			}
		}
		return g.strings(column.Name, reasonNames, index)
	}
	for _, r := range runs {
		index = append(index, agent.Rules[r.low:r.high]...)
	}
	if column.Kind == batch.RuleLineColumn {
		return g.lines(agent.Explanations, index), nil
	}
	texts := make([]string, len(agent.Explanations))
	for i, e := range agent.Explanations {
		texts[i] = e.Text
		if column.Kind == batch.RuleAgentColumn {
			texts[i] = e.Agent
		}
	}
	return g.strings(column.Name, texts, index)
}

// domains returns the column of registered domains.
func (g gatherer) domains(name string, v *batch.Verdicts, runs []run) (*array.Data, error) {
	if len(v.DomainOf) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts have no domains", name)
	}
	index := make([]int32, 0, countRows(runs))
	for _, r := range runs {
		index = append(index, v.DomainOf[r.low:r.high]...)
	}
	return g.strings(name, v.Domains, index)
}

// hashes returns the column of authorities' hashes.
func (g gatherer) hashes(name string, v *batch.Verdicts, runs []run) (*array.Data, error) {
	if len(v.HashOf) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts have no hashes", name)
	}
	index := make([]int32, 0, countRows(runs))
	for _, r := range runs {
		index = append(index, v.HashOf[r.low:r.high]...)
	}
	buffer, values := allocate[int64](g, len(index))
	for row, of := range index {
		if of >= 0 {
			values[row] = v.Hashes[of]
		}
	}
	validity, nulls := g.present(index)
	return newData(arrow.PrimitiveTypes.Int64, len(index), buffers(validity, buffer), nil, nulls), nil
}

// reasonNames holds the text of every reason.
var reasonNames = func() []string {
	names := make([]string, math.MaxUint8+1)
	for i := range names {
		names[i] = matcher.Reason(i).String()
	}
	return names
}()

// verdicts returns a boolean column, null where there is no verdict.
func (g gatherer) verdicts(agent *batch.AgentVerdicts, runs []run) *array.Data {
	n := countRows(runs)
	valid, nulls := g.validBits(agent.Valid, runs, n)
	return newData(arrow.FixedWidthTypes.Boolean, n, buffers(valid, g.bits(agent.Allowed, runs, n)), nil, nulls)
}

// lines returns a column of the rules' line numbers; index is negative where
// there is no rule.
func (g gatherer) lines(explanations []batch.Explanation, index []int32) *array.Data {
	valid, nulls := g.present(index)
	buffer, lines := allocate[int32](g, len(index))
	for i, rule := range index {
		if rule >= 0 {
			lines[i] = int32(min(explanations[rule].Line, math.MaxInt32))
		}
	}
	return newData(arrow.PrimitiveTypes.Int32, len(index), buffers(valid, buffer), nil, nulls)
}

// present returns a validity bitmap: rows with a negative index are null. It is nil
// when no row is.
func (g gatherer) present(index []int32) (*memory.Buffer, int) {
	buffer, bits := allocate[uint8](g, (len(index)+7)/8)
	nulls := 0
	for i, rule := range index {
		if rule < 0 {
			nulls++
			continue
		}
		bits[i>>3] |= 1 << (i & 7)
	}
	if nulls == 0 {
		buffer.Release()
		return nil, 0
	}
	return buffer, nulls
}

// checkSize refuses a utf8 column that exceeds its limit of memory, or the 31 bits of
// its offsets.
func (g gatherer) checkSize(bytes int64) error {
	if bytes > min(g.most, math.MaxInt32) {
		return errShare
	}
	return nil
}

// strings returns a utf8 column of the texts of index, null where it is
// negative.
func (g gatherer) strings(name string, texts []string, index []int32) (*array.Data, error) {
	total := int64(0)
	for _, i := range index {
		if i >= 0 {
			total += int64(len(texts[i]))
		}
	}
	if err := g.checkSize(total); err != nil {
		return nil, columnError(name, err)
	}
	valid, nulls := g.present(index)
	offsetBuffer, offsets := allocate[int32](g, len(index)+1)
	data := g.alloc(int(total))
	to, at := data.Bytes(), 0
	for row, i := range index {
		if i >= 0 {
			at += copy(to[at:], texts[i])
		}
		offsets[row+1] = int32(at)
	}
	return newData(arrow.BinaryTypes.String, len(index), buffers(valid, offsetBuffer, data), nil, nulls), nil
}

// urls returns a utf8 column of URLs.
func (g gatherer) urls(urls *batch.Column, runs []run) (*array.Data, error) {
	total, nulls := int64(0), 0
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			if urls.Null(i) {
				nulls++
			} else {
				total += int64(len(urls.Value(i)))
			}
		}
	}
	if err := g.checkSize(total); err != nil {
		return nil, err
	}
	n := countRows(runs)
	var valid *memory.Buffer
	if nulls > 0 {
		valid = g.bits(urls.Validity, shift(runs, urls.ValidityOffset), n)
	}
	offsetBuffer, offsets := allocate[int32](g, n+1)
	data := g.alloc(int(total))
	to, at, row := data.Bytes(), 0, 1
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			if !urls.Null(i) {
				at += copy(to[at:], urls.Value(i))
			}
			offsets[row] = int32(at)
			row++
		}
	}
	return newData(arrow.BinaryTypes.String, n, buffers(valid, offsetBuffer, data), nil, nulls), nil
}
