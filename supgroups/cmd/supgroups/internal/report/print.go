package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// PrintSummary writes s as a table for people.
func PrintSummary(w io.Writer, s Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Findings) > 0 {
		fmt.Fprintln(t, "NAMESPACE\tPOD\tCONTAINER\tPOLICY\tGROUPS NOBODY ASKED FOR")
	}
	for _, f := range s.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", Plain(f.Namespace), Plain(f.Pod), Plain(f.Container), Plain(f.Policy), groupsText(f.Groups))
	}
	for _, u := range s.Unread {
		fmt.Fprintf(t, "%s\t%s\t%s\tcannot tell\t%s\n", Plain(u.Namespace), Plain(u.Pod), Plain(u.Container), terminal.Escape(u.Error))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d pods, %d set supplementalGroupsPolicy (%d Strict); %d of %d containers hold groups nobody asked for, %d could not be told.\n%s\n",
		s.Pods, s.PolicySet, s.Strict, len(s.Findings), s.Containers, len(s.Unread), takenAway(s.TakenAway))
	return err
}

func groupsText(groups []Unasked) string {
	var out []string
	for _, g := range groups {
		text := fmt.Sprint(g.ID)
		if g.ImageName != "" {
			text += fmt.Sprintf(" %q", g.ImageName)
		}
		switch {
		case g.Predicted && g.Observed:
			text += " (seen)"
		case g.Observed:
			text += " (seen, not from this image's group file)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func takenAway(groups []int64) string {
	if len(groups) == 0 {
		return "Strict would take nothing away."
	}
	return "Strict would take away: " + strings.Trim(fmt.Sprint(groups), "[]")
}
