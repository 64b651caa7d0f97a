package bridge_test

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// engine is a containerd with the wrapper in the place of its runc, and nothing of Kubernetes.
type engine struct {
	*runtimetest.Node
	key   token.Key
	spool string
}

const engineNode = "engine"

func startEngine(t *testing.T, config containerdrig.Config, change ...func(*oci.Config)) *engine {
	t.Helper()
	e := &engine{key: token.NewKey(), spool: filepath.Join(config.Dir, "spool")}
	wrapper := filepath.Join(config.Dir, "a path", "lanyard-oci") // with a space, as an installation may have
	settings := oci.Config{Runtime: config.Runc, Node: engineNode, Keys: filepath.Join(config.Dir, "keys"), Spool: e.spool}
	for _, f := range change {
		f(&settings)
	}
	for _, step := range []error{
		os.MkdirAll(filepath.Dir(wrapper), 0o755), os.Mkdir(e.spool, 0o700), copyFile(parts.Need(t, "lanyard-oci")[0], wrapper),
		os.WriteFile(oci.ConfigPaths(wrapper)[0], settings.Encode(), 0o644), os.WriteFile(settings.Keys, []byte(token.Keys{e.key.Public()}.Text()), 0o644),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	config.Runc = wrapper
	rig, err := containerdrig.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rig.Stop(); err != nil {
			t.Error(err)
		}
	})
	pause, err := testimage.Pause()
	if err != nil {
		t.Fatal(err)
	}
	app, err := testimage.Build(testimage.Spec{Reporter: parts.Need(t, "lanyard-reporter")[0], Config: v1.Config{Entrypoint: []string{testimage.Program}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, image := range map[string]v1.Image{containerdrig.PauseImage: pause, engineImage: app} {
		if err := rig.Import(t.Context(), name, image); err != nil {
			t.Fatal(err)
		}
	}
	e.Node = runtimetest.Dial(t, rig.Socket())
	return e
}

const engineImage = "localhost/lanyard/app:1"

// container runs a container as a kubelet would have it.
func (e *engine) container(t *testing.T) *runtimetest.Container {
	t.Helper()
	return e.RunPod(t).Start(t, engineImage, []string{testimage.Program, "pause"})
}

// token signs one for the container and the command.
func (e *engine) token(t *testing.T, c *runtimetest.Container, command ...string) (token.Token, string) {
	t.Helper()
	meta, now := c.Pod.Config.GetMetadata(), time.Now()
	tok := token.Token{
		Session: brg.NewSessionID(), Node: engineNode, Container: c.Config.GetMetadata().GetName(),
		Pod:       token.Pod{UID: meta.GetUid(), Namespace: meta.GetNamespace(), Name: meta.GetName()},
		NotBefore: now.Add(-time.Second), Expiry: now.Add(time.Minute), Command: token.Digest(command, false),
	}
	_, _ = rand.Read(tok.Nonce[:])
	return tok, sign(t, e.key, tok)
}

func released(t *testing.T, dir string) containerdrig.Config {
	t.Helper()
	parts.Need(t, "containerd", "runc")
	config, err := containerdrig.Find(dir)
	if err != nil {
		t.Skip(err)
	}
	return config
}

// shortDir makes a directory in which paths of sockets have room.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "brg-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // a user namespace's root goes through it
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closed := target.Close(); err == nil {
		err = closed
	}
	return err
}
