package stats

import "robotsbatch/matcher/usage"

// isSilent is set of a site that was reached, whatever it states. The bits of usage.Values
// begin above it.
const isSilent State = 1

// isOut is set of a site of which an authority was unreachable.
const isOut State = 1 << 7

// useStateOf returns what is known of a site that states these values of a use, and has this
// value in the column access of a survey.
func useStateOf(said usage.Values, access string) State {
	if access == "unreachable" {
		return isOut
	}
	return State(said) | isSilent
}

func (c *Count) addStated(s State) {
	c.Sites++
	said := usage.Values(s &^ (isSilent | isOut))
	switch value := said.Single(); {
	case s&isSilent == 0:
		c.Unreachable++
	case said == 0:
		c.None++
	case value == usage.Unknown:
		c.Mixed++
	default:
		c.Values[value]++
	}
}
