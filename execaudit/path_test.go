package execaudit_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/apiserver"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// path is an exec's way through this module's parts, from the client's request
// to what the runtime hands to a process.
type path struct {
	apiServer apiserver.Exec
	kubelet   kubelet.Exec
}

var apiServerClient = kubelet.Identity{Name: "kube-apiserver-kubelet-client"}

func newPath(apiServer, node execaudit.Gates) *path {
	return &path{
		apiServer: apiserver.Exec{Gates: apiServer},
		kubelet:   kubelet.Exec{Gates: node, Trust: kubelet.Trust{Names: []string{apiServerClient.Name}}},
	}
}

// toNode returns the URL that the kubelet gets for a client's request.
func (p *path) toNode(t *testing.T, r *http.Request, auditID string) *url.URL {
	t.Helper()
	decoded, faults := p.apiServer.Decode(r.URL.RawQuery)
	if faults != nil {
		t.Fatal(faults)
	}
	envs, faults := p.apiServer.Validate(decoded)
	if faults != nil {
		t.Fatal(faults)
	}
	location := &url.URL{Scheme: "https", Host: "node:10250", Path: "/exec/ns/pod/c", RawQuery: "command=sh&input=1"}
	location, _, err := p.apiServer.Inject(location, envs, auditID)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// toProcess returns the environment that the stream gets for the kubelet's URL,
// and the request in between as it is on the wire.
func (p *path) toProcess(t *testing.T, location *url.URL) (environ []string, wire []byte) {
	t.Helper()
	envs, err := p.kubelet.Read(location.RawQuery, apiServerClient)
	if err != nil {
		t.Fatal(err)
	}
	req := &runtimeapi.ExecRequest{ContainerId: "c", Cmd: []string{"sh"}, Stdin: true}
	if err := criwire.Write(req, kubelet.Resolve(nil, envs, execaudit.ReservedList)); err != nil {
		t.Fatal(err)
	}
	wire, err = proto.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return stream(t, wire), wire
}

// stream plays the runtime.
func stream(t *testing.T, wire []byte) []string {
	t.Helper()
	req := new(runtimeapi.ExecRequest)
	if err := proto.Unmarshal(wire, req); err != nil {
		t.Fatal(err)
	}
	packed, err := streaming.Pack(req)
	if err != nil {
		t.Fatal(err)
	}
	_, environ, err := streaming.Unpack(packed.GetContainerId())
	if err != nil {
		t.Fatal(err)
	}
	return environ
}

func clientRequest(query string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/ns/pods/pod/exec?command=sh&stdin=true"+query, nil)
	r.Header.Set("Authorization", "Bearer t0ken-of-alice")
	r.Header.Set("Impersonate-User", "bob@example.com")
	r.Header.Set("Impersonate-Group", "wheel-group")
	r.Header.Set("Impersonate-Uid", "uid-17")
	return r
}

func TestPath(t *testing.T) {
	off, envVar, both := execaudit.Gates{}, execaudit.Gates{ExecEnvVar: true}, execaudit.Gates{ExecEnvVar: true, ExecRequestID: true}
	const id = "f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8"
	withID, caller := "KUBERNETES_EXEC_AUDIT_ID="+id, "LOG_LEVEL=debug, or $LESS"
	const query = "&env=LOG_LEVEL%3Ddebug%2C+or+%24LESS"
	cases := []struct {
		name            string
		apiServer, node execaudit.Gates
		query           string
		want            []string
	}{
		{"EXA-15 the audit ID alone", both, envVar, "", []string{withID}},
		{"EXA-14 EXA-31 the audit ID before the caller's", both, envVar, query, []string{withID, caller}},
		{"EXA-12 no audit ID", envVar, envVar, query, []string{caller}},
		{"EXA-29 nothing from the API server", off, envVar, query, nil},
		{"EXA-16 nothing from the kubelet", both, off, query, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPath(c.apiServer, c.node)
			if got, _ := p.toProcess(t, p.toNode(t, clientRequest(c.query), id)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("the process gets %q, want %q", got, c.want)
			}
		})
	}
	t.Run("EXA-22 on, off and on again: present only while both gates are on", func(t *testing.T) {
		p := newPath(both, envVar)
		for i, gates := range []execaudit.Gates{both, envVar, both, off, both, {ExecRequestID: true}, both} {
			p.apiServer.Gates = gates
			got, _ := p.toProcess(t, p.toNode(t, clientRequest(""), id))
			if want := gates == both; (len(got) == 1 && got[0] == withID) != want || !want && got != nil {
				t.Fatalf("step %d, gates %+v: the process gets %q", i, gates, got)
			}
		}
	})
	t.Run("EXA-27 nothing of the caller's identity travels to the node", func(t *testing.T) {
		p := newPath(both, envVar)
		location := p.toNode(t, clientRequest(query), id)
		want := "https://node:10250/exec/ns/pod/c?command=sh&input=1&env=LOG_LEVEL%3Ddebug%2C+or+%24LESS&env=KUBERNETES_EXEC_AUDIT_ID%3D" + id
		if location.String() != want {
			t.Errorf("the kubelet gets %s, want %s", location, want)
		}
		environ, wire := p.toProcess(t, location)
		for _, identity := range []string{"t0ken", "alice", "bob", "wheel", "uid-17", "Bearer"} {
			if strings.Contains(location.String(), identity) || bytes.Contains(wire, []byte(identity)) || strings.Contains(strings.Join(environ, " "), identity) {
				t.Errorf("%q travels to the node", identity)
			}
		}
	})
}
