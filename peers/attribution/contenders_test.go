package attribution_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/valyala/fastjson"

	peers "github.com/lanyard-dev/lanyard/peers/attribution"
)

// contender joins both logs and returns how many events got a user.
type contender struct {
	name  string
	start func(testing.TB, input) func() int
}

var contenders = []contender{
	{"lanyard", at(ours)}, {"duckdb", duckDB}, {"fastjson", at(fastJSON)}, {"encodingjson", at(encodingJSON)}, {"jq", at(jq)}, {"floor", at(count)},
}

// at is for a contender that needs no start.
func at(join func(testing.TB, input) int) func(testing.TB, input) func() int {
	return func(tb testing.TB, in input) func() int {
		return func() int { return join(tb, in) }
	}
}

// eachLine calls f with every line of a file.
func eachLine(tb testing.TB, path string, f func([]byte)) {
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(make([]byte, 1<<20), 1<<20)
	for scanner.Scan() {
		f(scanner.Bytes())
	}
	if err := scanner.Err(); err != nil {
		tb.Fatal(err)
	}
}

// fastJSON joins by the ID alone, with the fastest of the parsers that build a tree: no process trees, no verdicts.
func fastJSON(tb testing.TB, in input) int {
	users, named := map[string]string{}, 0
	var p fastjson.Parser
	eachLine(tb, in.audit, func(line []byte) {
		if v, err := p.ParseBytes(line); err == nil && string(v.GetStringBytes("objectRef", "subresource")) == "exec" {
			users[string(v.GetStringBytes("auditID"))] = string(v.GetStringBytes("user", "username"))
		}
	})
	eachLine(tb, in.events, func(line []byte) {
		v, err := p.ParseBytes(line)
		if err != nil {
			return
		}
		for _, kind := range []string{"process_exec", "process_exit"} {
			for _, variable := range v.GetArray(kind, "process", "environment_variables") {
				if users[string(variable.GetStringBytes("Value"))] != "" {
					named++
				}
			}
		}
	})
	return named
}

type auditLine struct {
	AuditID   string `json:"auditID"`
	User      struct{ Username string }
	ObjectRef struct{ Subresource string }
}

type eventLine struct {
	Exec *struct{ Process processLine } `json:"process_exec"`
	Exit *struct{ Process processLine } `json:"process_exit"`
}

type processLine struct {
	Variables []struct{ Key, Value string } `json:"environment_variables"`
}

// encodingJSON is the same with the standard library.
func encodingJSON(tb testing.TB, in input) int {
	users, named := map[string]string{}, 0
	eachLine(tb, in.audit, func(line []byte) {
		var a auditLine
		if json.Unmarshal(line, &a) == nil && a.ObjectRef.Subresource == "exec" {
			users[a.AuditID] = a.User.Username
		}
	})
	eachLine(tb, in.events, func(line []byte) {
		var e eventLine
		if json.Unmarshal(line, &e) != nil {
			return
		}
		var p processLine
		switch {
		case e.Exec != nil:
			p = e.Exec.Process
		case e.Exit != nil:
			p = e.Exit.Process
		}
		for _, v := range p.Variables {
			if users[v.Value] != "" {
				named++
			}
		}
	})
	return named
}

const (
	jqUsers = `reduce (inputs | select(.objectRef.subresource == "exec")) as $e ({}; .[$e.auditID] = $e.user.username)`
	jqCount = `[inputs | (.process_exec // .process_exit).process.environment_variables[0].Value as $id | select($users[0][$id // ""])] | length`
)

// jq is the same in two passes.
func jq(tb testing.TB, in input) int {
	if _, err := exec.LookPath("jq"); err != nil {
		tb.Skip("jq is not installed")
	}
	users, err := exec.Command("jq", "-nc", jqUsers, in.audit).Output()
	if err != nil {
		tb.Fatal(err)
	}
	path := in.audit + ".users"
	if err := os.WriteFile(path, users, 0o600); err != nil {
		tb.Fatal(err)
	}
	out, err := exec.Command("jq", "-n", "--slurpfile", "users", path, jqCount, in.events).Output()
	if err != nil {
		tb.Fatal(err)
	}
	named := 0
	if err := json.Unmarshal(out, &named); err != nil {
		tb.Fatal(err)
	}
	return named
}

// TestSame holds that all contenders find the same: on logs without forgeries the ID alone is right.
func TestSame(t *testing.T) {
	in := generate(t, peers.Full.Times(0.004))
	want := ours(t, in)
	if want == 0 {
		t.Fatal("no event got a user")
	}
	for _, c := range contenders {
		if c.name == "lanyard" || c.name == "floor" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if got := c.start(t, in)(); got != want {
				t.Errorf("%d events with a user, ours %d", got, want)
			}
		})
	}
}
