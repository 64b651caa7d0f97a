package envprecedence

import (
	"slices"
	"strconv"
	"strings"
)

// Source is the place of an entry: its tier and its index in that tier, from 0.
type Source struct {
	Tier  Tier
	Index int
}

// String returns the source in a form such as "caller entry 3".
func (s Source) String() string { return s.Tier.String() + " entry " + strconv.Itoa(s.Index) }

// Explanation says why one variable has its value.
type Explanation struct {
	Name     string   // as the winner spells it
	Winner   Source   // the entry whose value counts
	Shadowed []Source // the entries that lost, from the strongest to the weakest; nil if there is none
}

// String returns one line such as `"LOG_LEVEL": caller entry 0, over container entry 4`.
func (e Explanation) String() string {
	line := quoteName(e.Name) + ": " + e.Winner.String()
	if len(e.Shadowed) == 0 {
		return line
	}
	losers := make([]string, len(e.Shadowed))
	for i, s := range e.Shadowed {
		losers[i] = s.String()
	}
	return line + ", over " + strings.Join(losers, ", ")
}

// Explain returns one explanation for each variable of the environment that [Merge] returns for the same arguments, in
// the same order; nil if there is none. It holds names and places, never values. Malformed entries have no name and
// take no part.
func Explain(t Tiers, p Platform) []Explanation {
	x := explainer{positions: map[string]int{}, folded: p == PlatformWindows}
	var ends []int
	for i, list := range t.ordered() {
		x.add(Tier(i+1), list)
		ends = append(ends, len(x.explanations))
	}
	start := 0
	for _, end := range ends {
		slices.Reverse(x.explanations[start:end])
		start = end
	}
	return x.explanations
}

// explainer walks from the last entry of the highest tier to the first of the lowest.
type explainer struct {
	explanations []Explanation
	positions    map[string]int // of a name in explanations
	folded       bool
}

func (x *explainer) add(tier Tier, list []string) {
	for i := len(list) - 1; i >= 0; i-- {
		if eq := strings.IndexByte(list[i], '='); eq > 0 {
			x.addEntry(list[i][:eq], Source{Tier: tier, Index: i})
		}
	}
}

func (x *explainer) addEntry(name string, source Source) {
	key := name
	if x.folded {
		key = upperName(name)
	}
	if position, shadowed := x.positions[key]; shadowed {
		e := &x.explanations[position]
		e.Shadowed = append(e.Shadowed, source)
		return
	}
	x.positions[key] = len(x.explanations)
	x.explanations = append(x.explanations, Explanation{Name: name, Winner: source})
}
