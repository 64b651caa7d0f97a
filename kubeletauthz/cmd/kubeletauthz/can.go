package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
)

// can says whether rules allow a call: by which attribute and which rule, or what was asked in vain.
func can(c console, args []string) (int, error) {
	flags := flag.NewFlagSet("can", flag.ContinueOnError)
	version := minor{kubeletauthz.MinorNewest, c}
	var files, groups many
	flags.Var(&version, "version", "")
	flags.Var(&files, "f", "")
	flags.Var(&groups, "as-group", "")
	as := flags.String("as", "", "")
	node := flags.String("node", "", "")
	hardened := flags.Bool("hardened", false, "")
	others, err := parse(flags, args)
	if err != nil {
		return exitUsage, err
	}
	if *as == "" {
		return exitUsage, fmt.Errorf("%w: --as is missing", errUsage)
	}
	call, err := callOf(others)
	if err != nil {
		return exitUsage, err
	}
	m, code, err := input(c, files)
	if err != nil {
		return code, err
	}
	mapper, err := kubeletauthz.New(kubeletauthz.Options{Minor: version.Minor, HardenedVerbs: *hardened})
	if err != nil {
		return exitUsage, err
	}
	who := rbac.Request{User: *as, Groups: withImplied(*as, groups), Resource: "nodes", Name: *node}
	return m.code(decide(c, m, who, call, call.Asks(mapper))), nil
}

// input reads the files and says on standard error what of them was not used.
func input(c console, files []string) (*manifests, int, error) {
	m, err := read(c, files)
	if m == nil {
		return nil, exitUsage, err
	}
	for _, note := range m.notes {
		c.note("kubeletauthz: %s", strings.ReplaceAll(note, "\n", "; "))
	}
	if err != nil {
		return nil, exitInput, err
	}
	return m, exitDone, nil
}

func decide(c console, m *manifests, who rbac.Request, call privilege.Call, asks []privilege.Need) int {
	var refusals []string
	for _, ask := range asks {
		who.Verb, who.Subresource = ask.Verb, ask.Subresource
		answer, err := rbac.New(m).Authorize(context.Background(), who)
		if answer.Allowed {
			c.line("allowed: %s", call)
			c.line("  %s by rule %d of %s", ask, answer.Grant.Index+1, answer.Grant)
			return exitDone
		}
		reason := "no rule"
		if err != nil {
			reason += "; " + oneText(err)
		}
		refusals = append(refusals, fmt.Sprintf("  %s: %s", ask, reason))
	}
	c.line("refused: %s", call)
	for _, refusal := range refusals {
		c.line("%s", refusal)
	}
	enough := privilege.Rules(asks[:1])
	c.line("  enough: %s", oneLine(enough))
	warn(c, enough)
	return exitFound
}

// withImplied adds the groups that authentication gives a user of that name.
func withImplied(user string, groups []string) []string {
	groups = append([]string{"system:authenticated"}, groups...)
	if account, found := strings.CutPrefix(user, "system:serviceaccount:"); found {
		namespace, _, _ := strings.Cut(account, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return groups
}
