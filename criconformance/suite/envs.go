package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// Where the promises about the environment are made, and in which words.
const (
	conformance = "KEP-6035, CRI conformance tests"
	primitive   = "KEP-6035, CRI Primitive"
	precedence  = "KEP-6035, Environment Variable Precedence"
	validation  = "KEP-6035, Validation"

	injectAll   = "the runtime must inject all provided env vars into the exec’d process’s environment"
	mechanical  = "the runtime must mechanically inject the provided key-value pairs into the exec’d process’s environment, without filtering or modification"
	literally   = "Values are injected literally; no expansion or interpolation is performed by the runtime"
	baselineKey = "ExecRequest.envs entries override conflicting keys from the container’s baseline environment, not the other way around"
	noReference = "verify that BAZ is set to the literal string $FOO, not bar. Repeat with ${FOO} and %FOO% patterns"
)

// baseline is what the environment fixture's container has before any exec: the first part comes from the image, the
// second from CreateContainer and wins.
func baseline() (image, container []envprecedence.Entry) {
	image = []envprecedence.Entry{
		envprecedence.NewEntry("PATH", "/baseline/bin"),
		envprecedence.NewEntry("CONF_IMAGE", "image"),
		envprecedence.NewEntry("CONF_BOTH", "image"),
		envprecedence.NewEntry("CONF_DOLLAR", "$CONF_REF"),
		envprecedence.NewEntry("CONF_BRACES", "${CONF_REF}"),
		envprecedence.NewEntry("CONF_PERCENT", "%CONF_REF%"),
	}
	container = []envprecedence.Entry{
		envprecedence.NewEntry("HOME", "/baseline"),
		envprecedence.NewEntry("CONF_BOTH", "container"),
		envprecedence.NewEntry("CONF_LEVEL", "baseline"),
		envprecedence.NewEntry("CONF_EMPTIED", "baseline"),
		envprecedence.NewEntry("CONF_BASE", "from-baseline"),
		envprecedence.NewEntry("CONF_TWICE", "baseline"),
	}
	return image, container
}

// envCase is a case that is one session in each way: what is sent, and what has to be there.
type envCase struct {
	Case
	send []envprecedence.Entry
	want []envprecedence.Entry // nil: what is sent
	once bool                  // every name at most once
}

func (e envCase) finish() Case {
	want := e.want
	if want == nil {
		want = e.send
	}
	c := e.Case
	if c.Feature == "" {
		c.Feature = FeatureEnvs
	}
	c.try = func(ctx context.Context, n *node) observation {
		return n.inEachWay(func(w way) observation {
			m, err := n.report(ctx, w, n.fixture, e.send)
			if err != nil {
				return n.sessionFailed(w, e.send, err)
			}
			o := judge(w.String(), e.send, want, m.Self)
			if e.once {
				o.Problems = append(o.Problems, judgeOnce(w.String(), e.send, m.Self)...)
			}
			return o
		})
	}
	return c
}

func envCases() (out []Case) {
	for _, e := range slices.Concat(precedenceCases(), literalCases(), valueCases(), sizeCases(), bytesCases()) {
		out = append(out, e.finish())
	}
	return out
}

func env(pairs ...string) (out []envprecedence.Entry) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, envprecedence.NewEntry(pairs[i], pairs[i+1]))
	}
	return out
}

func precedenceCases() []envCase {
	return []envCase{
		{Case: Case{
			Name: "envs/injected", Requirement: "CON-1", Source: conformance, Sentence: "env vars provided in ExecRequest.envs are present in the exec’d process’s environment",
			Fix: "read field 7 of ExecRequest and put its entries into the OCI process's env",
		}, send: env("CONF_INJECTED", "yes", "CONF_INJECTED_TOO", "yes")},
		{Case: Case{
			Name: "envs/over-baseline", Requirement: "CON-1", Source: conformance, Sentence: baselineKey,
			Fix: "let ExecRequest.envs replace what the image and CreateContainer set",
		}, send: env("CONF_IMAGE", "sent", "CONF_BOTH", "sent", "CONF_LEVEL", "sent")},
		{Case: Case{
			Name: "envs/baseline-kept", Requirement: "CON-1", Source: precedence, Sentence: "the container’s default environment remains unchanged for any keys the caller does not override",
			Fix: "merge ExecRequest.envs into the container's environment instead of replacing it",
		}, send: env("CONF_OTHER", "1"), want: env("CONF_OTHER", "1", "CONF_IMAGE", "image", "CONF_BOTH", "container", "CONF_LEVEL", "baseline")},
		{Case: Case{
			Name: "envs/last-wins", Requirement: "CON-2", Source: precedence, Sentence: "If a key appears multiple times within a single precedence tier, the last entry wins.",
			Fix: "of several entries with one key keep the last",
		}, send: env("CONF_LAST", "1", "CONF_LAST", "2", "CONF_BETWEEN", "x", "CONF_LAST", "3"), want: env("CONF_LAST", "3", "CONF_BETWEEN", "x")},
		{Case: Case{
			Name: "envs/each-once", Requirement: "CON-2", Source: precedence, Sentence: "earlier entries take precedence on collision",
			Fix: "leave shadowed entries out: glibc and Go read the first of several, shells and runc the last",
		}, send: env("CONF_TWICE", "sent", "CONF_REPEATED", "same", "CONF_REPEATED", "same"), want: env("CONF_TWICE", "sent", "CONF_REPEATED", "same"), once: true},
	}
}

func literalCases() []envCase {
	out := []envCase{{
		Case: Case{
			Name: "envs/baseline-literal", Requirement: "CON-1", Source: conformance, Sentence: "env vars inherited from the container baseline are not expanded or interpolated when ExecRequest.envs entries are added",
			Fix: "do not expand the container's own values when an exec adds entries",
		},
		send: env("CONF_REF", "sent"),
		want: env("CONF_REF", "sent", "CONF_DOLLAR", "$CONF_REF", "CONF_BRACES", "${CONF_REF}", "CONF_PERCENT", "%CONF_REF%"),
	}, {
		Case: Case{
			Name: "envs/literal-against-baseline", Requirement: "CON-1", Source: primitive, Sentence: literally,
			Fix: "do not expand references to the container's variables",
		},
		send: env("CONF_BASED", "$CONF_BASE ${CONF_BASE} %CONF_BASE%"),
	}}
	for _, form := range []struct{ name, reference string }{
		{"dollar", "$FOO"}, {"braces", "${FOO}"}, {"percent", "%FOO%"}, {"parentheses", "$(FOO)"},
	} {
		out = append(out, envCase{Case: Case{
			Name: "envs/literal-" + form.name, Requirement: "CON-1", Source: conformance, Sentence: noReference,
			Fix: "pass " + form.reference + " through as it is",
		}, send: env("FOO", "bar", "BAZ", form.reference)})
	}
	return out
}

func valueCases() []envCase {
	out := []envCase{
		{Case: Case{
			Name: "envs/empty-value", Requirement: "CON-2", Source: validation, Sentence: "Value may be empty. Setting a key with an empty string is a valid use case.",
			Fix: "keep entries without a value, also over a baseline that has one",
		}, send: env("CONF_EMPTY", "", "CONF_EMPTIED", "")},
		unmodified("shell-characters", "do not hand values to a shell", env("CONF_SHELL", `a=b 'c' "d" `+"`id`"+` $(id) ~ * \n # ; & | !`)),
		unmodified("newline", "carry newlines and carriage returns in values", env("CONF_LINES", "one\ntwo\r\nthree")),
		unmodified("spaces", "do not trim values", env("CONF_SPACES", "  a \t b  ", "CONF_BLANK", " ")),
		unmodified("every-character", "carry control characters and characters beyond ASCII", env("CONF_CHARACTERS", everyCharacter())),
		unmodified("names", "take every name that the Kubernetes API allows", env("CONF.dot-dash", "1", "-conf", "2", ".conf", "3", "_", "4")),
		unmodified("audit-id", "do not keep names that begin with KUBERNETES_ for yourself", env(execaudit.AuditIDName, "f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8")),
		unmodified("path", "do not filter PATH", env("PATH", "/sent/bin")),
		unmodified("home", "do not filter HOME", env("HOME", "/sent")),
		unmodified("ld-preload", "do not filter LD_PRELOAD: who may exec is RBAC's question", env("LD_PRELOAD", "/sent.so")),
	}
	return out
}

func unmodified(name, fix string, send []envprecedence.Entry) envCase {
	return envCase{Case: Case{Name: "envs/" + name, Requirement: "CON-2", Source: "KEP-6035, Proposal", Sentence: mechanical, Fix: fix}, send: send}
}

// bytesCases send another variable beside, so that a runtime which takes the session and drops the value is told from one
// that refuses it.
func bytesCases() []envCase {
	every := unmodified("every-byte", "carry every byte but NUL: CRI's KeyValue.value is bytes, and an environment need not be UTF-8; "+
		"where a JSON process spec is on the way, refuse the session instead of changing the value", env("CONF_BESIDE", "1", "CONF_BYTES", everyByte()))
	every.Name, every.Feature = string(FeatureEnvsBytes)+"/every-byte", FeatureEnvsBytes
	return []envCase{every}
}

// everyCharacter has each ASCII character that a value may have, and others of each length that UTF-8 has, among them
// those that JSON or a terminal might treat in a way of their own.
func everyCharacter() string {
	b := make([]byte, 0, 160)
	for c := byte(1); c <= unicode.MaxASCII; c++ {
		b = append(b, c)
	}
	return string(b) + "\u0080\u00a0\u00ff\u0301\u07ff\u0800\u200b\u2028\u2029\u202e\ue000\ufeff\ufffd\uffff\U00010000\U0001f600\U0010ffff"
}

// everyByte has each byte that a value may have, once, and neither begins nor ends with a blank.
func everyByte() string {
	b := make([]byte, 0, 255)
	for c := 1; c <= 255; c++ {
		b = append(b, byte(c))
	}
	return string(b)
}

func sizeCases() []envCase {
	var many []envprecedence.Entry
	for i := range execaudit.MaxEnvEntries {
		many = append(many, envprecedence.NewEntry(fmt.Sprintf("CONF_N%03d", i), strconv.Itoa(i)))
	}
	return []envCase{
		{Case: Case{
			Name: "envs/entries-256", Requirement: "CON-2", Source: validation, Sentence: "Maximum 256 entries per request.",
			Fix: "take as many entries as the API lets through",
		}, send: many},
		{Case: Case{
			Name: "envs/bytes-32k", Requirement: "CON-2", Source: validation, Sentence: "Maximum 32KB total size across all entries.",
			Fix: "take as many bytes as the API lets through, in few values too",
		}, send: large()},
	}
}

// large is as many bytes of names and values as the API lets through, half of them in one value.
func large() []envprecedence.Entry {
	const names = len("CONF_HALF") + len("CONF_REST")
	half := execaudit.MaxEnvBytes / 2
	return env("CONF_HALF", strings.Repeat("h", half), "CONF_REST", strings.Repeat("r", execaudit.MaxEnvBytes-half-names))
}
