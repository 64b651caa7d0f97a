package join_test

import (
	"slices"
	"strings"
	"testing"
)

// over adds the ends of the sessions to their logs, half a second after they began.
func over(audit, journal, events []string) (a, j, e []string) {
	for i := range journal {
		ms := i * 700
		a = append(a, audit[2*i], audit[2*i+1], strings.NewReplacer("ResponseStarted", "ResponseComplete",
			`"requestURI"`, `"responseStatus":{"code":101},"requestURI"`, `"stageTimestamp":"`+stamp(ms), `"stageTimestamp":"`+stamp(ms+500)).Replace(audit[2*i+1]))
		j = append(j, journal[i], strings.NewReplacer(`"start"`, `"end","exitCode":0`, stamp(ms+10), stamp(ms+400)).Replace(journal[i]))
		e = append(e, events[2*i], events[2*i+1])
		for k, kind := range []string{`"exec"`, `"fork"`} {
			e = append(e, strings.NewReplacer(kind, `"exit"`, stamp(ms+20+10*k), stamp(ms+300+10*k)).Replace(events[2*i+k]))
		}
	}
	return a, j, e
}

func TestForget(t *testing.T) {
	t.Run("ATT-6 ATT-14 one line of the far future in each log keeps nothing else from being forgotten", func(t *testing.T) {
		const n = many
		audit, journal, events := over(logs(n))
		got, plain := answers(t, source(audit), source(journal), source(events))
		if common(got, right(n)) != 2*n || plain.Sessions > n/2 {
			t.Errorf("%d of %d answers are right, %+v", common(got, right(n)), 2*n, plain)
		}
		with := func(log []string) []string { return slices.Insert(slices.Clone(log), 100, hostile(log[0])) }
		got, stats := answers(t, source(with(audit)), source(with(journal)), source(with(events)))
		if common(got, right(n)) != 2*n || stats.Sessions > plain.Sessions+1 || stats.Processes > plain.Processes+1 || stats.PeakBytes > plain.PeakBytes+64<<10 {
			t.Errorf("%d of %d answers are right, %+v, without these lines %+v", common(got, right(n)), 2*n, stats, plain)
		}
	})
}
