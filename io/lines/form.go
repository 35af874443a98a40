package lines

import (
	"strconv"

	"robotsbatch/batch"
	"robotsbatch/matcher"
)

// form is how values are written: as text or as JSON.
type form struct {
	null string
	json bool
	// most is how many bytes the text may have up to the end of a row. A list that
	// exceeds it is written in part, and the batch is refused.
	most int64
}

var (
	textForm = form{null: ""}
	jsonForm = form{null: "null", json: true}
)

// appendString appends a string, which the text form leaves as it is.
func (f form) appendString(dst []byte, s string) []byte {
	if f.json {
		return AppendString(dst, s)
	}
	return append(dst, s...)
}

func (f form) urls(c *batch.Column) Appender {
	return func(dst []byte, row int) []byte {
		switch {
		case c.Null(row):
			return append(dst, f.null...)
		case f.json:
			return AppendString(dst, c.Value(row))
		}
		return append(dst, c.Value(row)...)
	}
}

func (f form) verdicts(v *batch.Verdicts, c batch.VerdictColumn) Appender {
	switch {
	case c.Kind.HasFacts():
		return f.facts(v, c)
	case c.Kind.IsAgents():
		return f.agents(v, c)
	}
	switch c.Kind {
	case batch.RegisteredDomainColumn:
		return f.domains(v)
	case batch.AuthorityHashColumn:
		return f.hashes(v)
	}
	agent := &v.Agents[c.Agent]
	switch c.Kind {
	case batch.AllowedColumn:
		return func(dst []byte, row int) []byte {
			at, bit := row>>3, byte(1)<<(row&7)
			switch {
			case agent.Valid[at]&bit == 0:
				return append(dst, f.null...)
			case agent.Allowed[at]&bit == 0:
				return append(dst, "false"...)
			}
			return append(dst, "true"...)
		}
	case batch.ReasonColumn:
		return func(dst []byte, row int) []byte {
			if agent.Reasons[row] == matcher.NoReason {
				return append(dst, f.null...)
			}
			return f.appendString(dst, agent.Reasons[row].String())
		}
	}
	return f.explanations(agent, c.Kind)
}

// explanations writes the columns that are null in rows without a rule.
func (f form) explanations(agent *batch.AgentVerdicts, kind batch.ColumnKind) Appender {
	return func(dst []byte, row int) []byte {
		rule := agent.Rules[row]
		if rule < 0 {
			return append(dst, f.null...)
		}
		e := &agent.Explanations[rule]
		switch kind {
		case batch.RuleLineColumn:
			return strconv.AppendInt(dst, int64(e.Line), 10)
		case batch.RuleAgentColumn:
			return f.appendString(dst, e.Agent)
		default:
			return f.appendString(dst, e.Text)
		}
	}
}
