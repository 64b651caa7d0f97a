package attribution

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Logs says how large the generated logs are: an audit log, process events and a journal. The zero fields take the shape of the published measurement: 500,000
// audit lines of about 1.3 KB and 1,000,000 process events of about 0.96 KB; the journal has 25,000 lines.
type Logs struct {
	// Audit and Events are the numbers of lines.
	Audit, Events int
	// Open is about how many sessions are open at a time.
	Open int
	// Seed makes equal logs from equal values.
	Seed uint64
}

// Full is the published size.
var Full = Logs{Audit: 500_000, Events: 1_000_000, Open: 200, Seed: 1}

// Times returns the logs n times as long.
func (l Logs) Times(n float64) Logs {
	l.Audit, l.Events = int(float64(l.Audit)*n), int(float64(l.Events)*n)
	return l
}

var dawn = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// generator writes all logs from one plan: session i has ID i, begins at a time and ends some later.
type generator struct {
	Logs
	random *rand.Rand
	roots  []int // number of each session's shell
}

func (l Logs) generator(stream uint64) *generator {
	return &generator{Logs: l, random: rand.New(rand.NewPCG(l.Seed, stream))}
}

// sessions is how many exec sessions there are: a twentieth of the audit log's lines, three stages each.
func (l Logs) sessions() int { return max(l.Audit/60, 1) }

// The full size spans an hour; a smaller one is shorter at the same rates.
const (
	auditGap = time.Hour / 500_000
	eventGap = time.Hour / 1_000_000
	// step is the time from one session's begin to the next's; sessions last Open steps.
	step = 60 * auditGap
)

func id(i int) string { return fmt.Sprintf("%08x-5d6e-4f70-8192-a3b4c5d6e7f8", i) }

func pod(i int) int { return i * 7919 % 5000 }

func namespace(pod int) string { return fmt.Sprintf("shop-%02d", pod%40) }

func name(pod int) string { return fmt.Sprintf("web-%04d", pod) }

func node(pod int) string { return fmt.Sprintf("node-%02d.cluster.example", pod%20) }

func container(pod int) string {
	return fmt.Sprintf("%08x762eafc25a35ab90089f79703b86659989e8e547c2c029fb60f55d88", pod*2654435761%(1<<32))
}

func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000000000Z") }

// WriteAudit writes the API server's log.
func (l Logs) WriteAudit(w io.Writer) error {
	g, out := l.generator(1), bufio.NewWriterSize(w, 1<<20)
	n := l.sessions()
	stages := g.stages()
	for i, next := 0, 0; i < l.Audit; i++ {
		at := dawn.Add(auditGap * time.Duration(i))
		if next < len(stages) && !stages[next].at.After(at) {
			g.exec(out, stages[next])
			next++
			continue
		}
		g.other(out, i, n, at)
	}
	return out.Flush()
}

type stage struct {
	session int
	name    string
	at      time.Time
}

// stages returns the exec lines in the order of time.
func (g *generator) stages() []stage {
	var begun, ended []stage
	for i := range g.sessions() {
		at := dawn.Add(step * time.Duration(i))
		begun = append(begun, stage{i, "RequestReceived", at}, stage{i, "ResponseStarted", at.Add(time.Millisecond)})
		ended = append(ended, stage{i, "ResponseComplete", at.Add(step * time.Duration(g.Open))})
	}
	var all []stage
	for len(begun) > 0 {
		if len(ended) > 0 && ended[0].at.Before(begun[0].at) {
			all, ended = append(all, ended[0]), ended[1:]
			continue
		}
		all, begun = append(all, begun[0]), begun[1:]
	}
	return append(all, ended...)
}

const agentLine = "kubectl/v1.36.0 (linux/amd64) kubernetes/abcdef0123456789"

func (g *generator) exec(w io.Writer, s stage) {
	p := pod(s.session)
	received := dawn.Add(step * time.Duration(s.session))
	fmt.Fprintf(w, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"%s","stage":"%s","requestURI":"/api/v1/namespaces/shop-%02d/pods/web-%04d/exec?command=sh\u0026command=-c\u0026command=id\u0026container=app\u0026stdin=true\u0026stdout=true\u0026tty=true","verb":"get","user":{"username":"user-%03d@example.com","uid":"u-%d","groups":["dev","team-%d","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["X509SHA256=%064x"]}},"sourceIPs":["203.0.113.9"],"userAgent":"%s","objectRef":{"resource":"pods","namespace":"shop-%02d","name":"web-%04d","apiVersion":"v1","subresource":"exec"},"responseStatus":{"metadata":{},"code":101},"requestReceivedTimestamp":"%s","stageTimestamp":"%s","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"developers\" of ClusterRole \"developer\" to Group \"dev\""}}`+"\n",
		id(s.session), s.name, p%40, p, s.session%500, s.session%500, s.session%17, s.session, agentLine, p%40, p, stamp(received), stamp(s.at))
}

var verbs = []string{"get", "list", "watch", "update", "patch"}

func (g *generator) other(w io.Writer, i, sessions int, at time.Time) {
	p := g.random.IntN(5000)
	fmt.Fprintf(w, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"%s","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/shop-%02d/replicasets/web-%04d/status?timeout=10s\u0026resourceVersion=%d\u0026fieldManager=kube-controller-manager","verb":"%s","user":{"username":"system:serviceaccount:kube-system:replicaset-controller","uid":"7b1c1a2e-0000-4000-8000-%012x","groups":["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=%08x-0000-4000-8000-0123456789ab"]}},"sourceIPs":["10.0.%d.%d","10.1.0.1"],"userAgent":"kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/abcdef0/system:serviceaccount:kube-system:replicaset-controller","objectRef":{"resource":"replicasets","namespace":"shop-%02d","name":"web-%04d","uid":"3e4f5a6b-0000-4000-8000-%012x","apiGroup":"apps","apiVersion":"v1","resourceVersion":"%d","subresource":"status"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"%s","stageTimestamp":"%s","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"system:controller:replicaset-controller\" of ClusterRole \"system:controller:replicaset-controller\" to ServiceAccount"}}`+"\n",
		id(sessions+i), p%40, p, i, verbs[i%len(verbs)], p, i, p%256, i%256, p%40, p, p, i, stamp(at.Add(-time.Millisecond)), stamp(at))
}
