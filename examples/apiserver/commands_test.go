package apiserver_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const podManifest = `apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {app: a}}
spec:
  nodeName: n1
  containers: [{name: c, image: example.com/c}]
`

// TestKubectl runs the unmodified program.
func TestKubectl(t *testing.T) {
	c := start(t, nil)
	k := c.kubectl(t, "admin-token")
	file := write(t, filepath.Join(t.TempDir(), "pod.yaml"), podManifest)
	t.Run("STK-5 create, get, describe, patch, apply, delete", func(t *testing.T) {
		contains(t, "create", k.ok(t, "create", "-f", file), "pod/p1 created")
		contains(t, "get", k.ok(t, "get", "pods", "-o", "wide"), "NAME", "READY", "p1", "0/1", "Pending", "n1")
		contains(t, "get -l", k.ok(t, "get", "pods", "-l", "app=a", "-o", "name"), "pod/p1")
		if out := k.ok(t, "get", "pods", "--field-selector", "spec.nodeName=none", "-o", "name"); out != "" {
			t.Errorf("pods of no node: %s", out)
		}
		contains(t, "describe", k.ok(t, "describe", "pod", "p1"), "Service Account:  default", "Node:             n1/", "Image:        example.com/c")
		contains(t, "apply", k.ok(t, "apply", "--server-side=false", "-f", file), "pod/p1 configured")
		contains(t, "apply again", k.ok(t, "apply", "--server-side=false", "-f", file), "pod/p1 unchanged")
		k.ok(t, "patch", "pod", "p1", "--type=json", `-p=[{"op":"add","path":"/metadata/labels/x","value":"json"}]`)
		k.ok(t, "patch", "pod", "p1", "--type=merge", `-p={"metadata":{"labels":{"second":"merge"}}}`)
		k.ok(t, "patch", "pod", "p1", `-p={"spec":{"containers":[{"name":"c","image":"example.com/d"}]}}`)
		contains(t, "patched", k.ok(t, "get", "pod", "p1", "-o", "yaml"), "x: json", "second: merge", "image: example.com/d")
		contains(t, "delete", k.ok(t, "delete", "pod", "p1", "--grace-period=0", "--force"), "deleted")
		if o := k.run(t, "", "get", "pod", "p1"); o.code != 1 || !strings.Contains(o.stderr, "NotFound") {
			t.Errorf("get of a deleted pod = %+v", o)
		}
	})
	t.Run("STK-5 create with an unknown field is refused by name", func(t *testing.T) {
		bad := write(t, filepath.Join(t.TempDir(), "bad.yaml"), strings.Replace(podManifest, "nodeName", "nodeNamme", 1))
		o := k.run(t, "", "create", "-f", bad)
		contains(t, "error", o.stderr, `unknown field "spec.nodeNamme"`)
	})
	t.Run("STK-5 watch shows changes", func(t *testing.T) { watches(t, k) })
	t.Run("STK-5 auth can-i, whoami, create token, get --raw", func(t *testing.T) {
		contains(t, "can-i", k.ok(t, "auth", "can-i", "delete", "nodes"), "yes")
		contains(t, "can-i --list", k.ok(t, "auth", "can-i", "--list"), "selfsubjectaccessreviews")
		if o := c.kubectl(t, "bob-token").run(t, "", "auth", "can-i", "delete", "nodes"); o.code != 1 || o.stdout != "no\n" {
			t.Errorf("can-i as bob = %+v", o)
		}
		contains(t, "whoami", k.ok(t, "auth", "whoami"), "admin", "u-admin", "system:masters")
		if token := k.ok(t, "create", "token", "default"); strings.Count(token, ".") != 2 {
			t.Errorf("create token = %q", token)
		}
		contains(t, "get --raw", k.ok(t, "get", "--raw", "/api/v1/nodes/n1/proxy/healthz"), "ok")
		contains(t, "version", k.ok(t, "get", "--raw", "/version"), `"minor": "37"`)
	})
	t.Run("STK-5 namespaces, config maps, secrets, roles", func(t *testing.T) {
		k.ok(t, "create", "namespace", "shop")
		contains(t, "default account", k.ok(t, "get", "sa", "-n", "shop"), "default")
		k.ok(t, "create", "configmap", "cm", "-n", "shop", "--from-literal=a=b")
		k.ok(t, "create", "secret", "generic", "s", "-n", "shop", "--from-literal=a=b")
		k.ok(t, "create", "role", "r", "-n", "shop", "--verb=get", "--resource=pods")
		k.ok(t, "create", "rolebinding", "rb", "-n", "shop", "--role=r", "--user=alice")
		contains(t, "can-i", k.ok(t, "auth", "can-i", "get", "pods", "-n", "shop", "--as=alice"), "yes")
		k.ok(t, "delete", "namespace", "shop")
		if out := k.ok(t, "get", "cm,secrets,roles", "-A", "-o", "name"); out != "" {
			t.Errorf("left after the namespace: %s", out)
		}
	})
	t.Run("STK-5 explain and api-resources read the OpenAPI", func(t *testing.T) {
		contains(t, "explain", k.ok(t, "explain", "pod.spec.nodeName"), "FIELD: nodeName <string>")
		contains(t, "api-resources", k.ok(t, "api-resources"), "clusterrolebindings", "csidrivers", "po ")
	})
	t.Run("STK-5 logs and attach", func(t *testing.T) {
		contains(t, "logs", k.ok(t, "logs", "one", "--tail=5"), "a line of log")
		if location, _ := c.kubelet.last(t); location.String() != "/containerLogs/default/one/main?tailLines=5" {
			t.Errorf("kubelet was asked %s", location)
		}
		contains(t, "attach", k.ok(t, "attach", "-q", "one"), "attached")
	})
}

// watches runs get --watch until it has shown a label that another client adds.
func watches(t *testing.T, k kubectl) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := k.command("get", "pod", "one", "--watch", "--output-watch-events", "-L", "seen")
	pipe := must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	lines := linesOf(pipe)
	waitLine(t, lines, "ADDED")
	k.ok(t, "label", "pod", "one", "seen=yes")
	waitLine(t, lines, "MODIFIED")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func TestKubectlExec(t *testing.T) {
	c := start(t, nil)
	k := c.kubectl(t, "admin-token")
	for name, k := range map[string]kubectl{
		"WebSocket": k,
		"SPDY":      k.with("KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false"),
	} {
		t.Run("STK-5 exec over "+name, func(t *testing.T) {
			contains(t, "env", k.ok(t, "exec", "one", "--", "env"), "KUBERNETES_EXEC_AUDIT_ID="+string(c.lastExec(t).AuditID))
			if o := k.run(t, "to and fro", "exec", "-i", "one", "--", "cat"); o.stdout != "to and fro" || o.code != 0 {
				t.Errorf("cat = %+v", o)
			}
			if o := k.run(t, "", "exec", "one", "--", "exit"); o.code != 3 {
				t.Errorf("exit = %+v, want code 3", o)
			}
			o := k.run(t, "", "exec", "web", "-c", "nosuch", "--", "env")
			contains(t, "error", o.stderr, `container nosuch`)
		})
		t.Run("STK-5 exec -it with a terminal over "+name, func(t *testing.T) {
			contains(t, "terminal", k.terminal(t, 100, 40, "exec", "-it", "one", "--", "size"), "tty=true 100x40")
		})
	}
	t.Run("STK-5 port-forward", func(t *testing.T) { forwards(t, k) })
}
