//go:build linux

package install_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// fakeRuntime answers what an installer asks. CRI-O runs nowhere in tests; containerd is used for real elsewhere.
type fakeRuntime struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	kind, socket, root, config string

	mu         sync.Mutex // for what follows
	handlers   map[string]runtimeconf.Handler
	standard   string
	pods       []*runtimeapi.PodSandbox
	containers []*runtimeapi.Container
	runtime    string // that pods and containers remember
}

func serveRuntime(t *testing.T, kind, root, config string) *fakeRuntime {
	t.Helper()
	f := &fakeRuntime{kind: kind, root: root, config: config, socket: "/cri.sock"}
	f.restart(t)
	listener, err := net.Listen("unix", filepath.Join(root, "cri.sock"))
	if err != nil {
		t.Fatal(err)
	}
	cri := grpc.NewServer()
	runtimeapi.RegisterRuntimeServiceServer(cri, f)
	server := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			cri.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write(f.running())
	})}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return f
}

// running is the configuration as CRI-O answers it.
func (f *fakeRuntime) running() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := "[crio.runtime]\ndefault_runtime = \"" + f.standard + "\"\n"
	for name, h := range f.handlers {
		text += "[crio.runtime.runtimes." + name + "]\nruntime_path = \"" + h.Binary + "\"\n"
	}
	return []byte(text)
}

// restart reads the configuration.
func (f *fakeRuntime) restart(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reread()
}

// restartFile, below the root, restarts the fake when it is asked for its version.
const restartFile = "restart"

func (f *fakeRuntime) reread() {
	var files []runtimeconf.File
	for _, path := range []string{f.config, f.config + ".d/99-lanyard.conf"} {
		if text, err := os.ReadFile(f.root + path); err == nil {
			files = append(files, runtimeconf.File{Path: path, Text: text})
		}
	}
	var err error
	if f.kind == "cri-o" {
		f.handlers, f.standard, err = runtimeconf.CRIO{Files: files}.Handlers()
	} else {
		f.handlers, f.standard, err = runtimeconf.Containerd{Major: 2, Main: f.config, Files: files}.Handlers()
	}
	if err != nil {
		f.handlers, f.standard = map[string]runtimeconf.Handler{"runc": {Type: runtimeconf.RuncV2}}, "runc"
	}
}

// remember has one running pod with one container.
func (f *fakeRuntime) remember(t *testing.T, runtime string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runtime = runtime
	f.pods = []*runtimeapi.PodSandbox{{Id: "p", Metadata: &runtimeapi.PodSandboxMetadata{Name: "a", Namespace: "b"}}}
	f.containers = []*runtimeapi.Container{{
		Id: "c", PodSandboxId: "p", State: runtimeapi.ContainerState_CONTAINER_RUNNING, Metadata: &runtimeapi.ContainerMetadata{Name: "app"},
	}}
}

func (f *fakeRuntime) forget() { f.know(nil) }

// know has these pods without containers.
func (f *fakeRuntime) know(pods []*runtimeapi.PodSandbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods, f.containers = pods, nil
}

func (f *fakeRuntime) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.Remove(filepath.Join(f.root, restartFile)); err == nil {
		f.reread()
	}
	return &runtimeapi.VersionResponse{RuntimeName: f.kind, RuntimeVersion: "v2.4.2"}, nil
}

func (f *fakeRuntime) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	runtimes := map[string]any{}
	for name, h := range f.handlers {
		runtimes[name] = map[string]any{"runtimeType": h.Type, "options": map[string]any{"BinaryName": h.Binary}}
	}
	text, err := json.Marshal(map[string]any{"containerd": map[string]any{"defaultRuntimeName": f.standard, "runtimes": runtimes}})
	return &runtimeapi.StatusResponse{Info: map[string]string{"config": string(text)}}, err
}

func (f *fakeRuntime) ListPodSandbox(context.Context, *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &runtimeapi.ListPodSandboxResponse{Items: f.pods}, nil
}

func (f *fakeRuntime) ListContainers(context.Context, *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &runtimeapi.ListContainersResponse{Containers: f.containers}, nil
}

func (f *fakeRuntime) info() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == "cri-o" {
		return map[string]string{"info": "{}"}
	}
	text, _ := json.Marshal(map[string]any{"runtimeOptions": map[string]string{"binary_name": f.runtime}})
	return map[string]string{"info": string(text)}
}

func (f *fakeRuntime) PodSandboxStatus(context.Context, *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	return &runtimeapi.PodSandboxStatusResponse{Info: f.info()}, nil
}

func (f *fakeRuntime) ContainerStatus(context.Context, *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	return &runtimeapi.ContainerStatusResponse{Info: f.info()}, nil
}
