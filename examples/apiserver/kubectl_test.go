package apiserver_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// kubectl runs the real program against a cluster as one user.
type kubectl struct {
	path, kubeconfig, home string
	env                    []string
}

// kubectl returns the program as the user of a static token.
func (c *cluster) kubectl(t testing.TB, token string) kubectl {
	t.Helper()
	path, err := parts.Find("kubectl")
	if err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	return kubectl{path: path, home: home, kubeconfig: c.kubeconfig(t, token, home)}
}

func (c *cluster) kubeconfig(t testing.TB, token, dir string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.ca.PEM()}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// output is what a run printed and how it ended.
type output struct {
	stdout, stderr string
	code           int
}

// with returns kubectl with more environment.
func (k kubectl) with(env ...string) kubectl {
	k.env = append(append([]string{}, k.env...), env...)
	return k
}

func (k kubectl) command(args ...string) *exec.Cmd {
	cmd := exec.Command(k.path, args...)
	cmd.Env = append([]string{"KUBECONFIG=" + k.kubeconfig, "HOME=" + k.home, "PATH=" + filepath.Dir(k.path) + ":" + os.Getenv("PATH")}, k.env...)
	return cmd
}

// run returns the output of a run with the standard input.
func (k kubectl) run(t testing.TB, stdin string, args ...string) output {
	t.Helper()
	cmd := k.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	result := output{stdout: out.String(), stderr: errs.String()}
	if ok {
		result.code = exit.ExitCode()
	}
	return result
}

// ok runs and wants success; it returns the standard output.
func (k kubectl) ok(t testing.TB, args ...string) string {
	t.Helper()
	o := k.run(t, "", args...)
	if o.code != 0 {
		t.Fatalf("kubectl %s = %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// contains checks that a text has all parts.
func contains(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s = %q, want it to contain %q", what, text, part)
		}
	}
}
