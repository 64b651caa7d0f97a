//go:build linux

package main_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// stamp is what differs between two calls of one program.
var stamp = regexp.MustCompile(`"?time"?[=:]"[^"]*"`)

// retries are what runc says of a cgroup that the kernel is not done with.
var retries = regexp.MustCompile(`(?m)^.*level=warning msg="Failed to remove cgroup \(will retry\)".*\n`)

func TestCallsWithoutToken(t *testing.T) {
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t, r)
			n.write("broken process.json", `{"args":["/probe","exit=3"`)
			n.write("process.json", `{"args":["/probe","exit=3"],"cwd":"/","user":{"uid":0,"gid":0}}`)
			must(t, os.Symlink(n.path("process.json"), n.path("link.json")))
			for _, call := range []string{
				"", "--version", "-v", "--help", "help", "features", "spec --help", "exec --help", "update --help",
				"--bogus", "bogus", "exec", "exec --bogus ID", "--root", "--root ROOT list", "--root ROOT list --format json",
				"--root ROOT state ID", "--root ROOT state nobody", "--root ROOT kill nobody", "--root ROOT delete nobody", "--root ROOT start ID",
				"--root ROOT ps --format json ID", "--root ROOT --systemd-cgroup list", "--root ROOT --log-format json state nobody",
				"--root ROOT exec ID /probe exit=7", "--root ROOT exec ID /nothing", "--root ROOT exec --process DIR/nothing ID",
				"--root ROOT exec --process DIR/broken_process.json ID", "--root ROOT exec -p DIR/process.json ID", "--root ROOT exec --process=DIR/link.json ID",
				"--root ROOT exec --process DIR ID", "--root ROOT exec --process DIR/process.json nobody", "--root ROOT exec --process DIR/process.json",
				"--root ROOT kill ID 0", "--root ROOT pause nobody", "--root ROOT update nobody",
			} {
				t.Run("BRG-5 "+call, func(t *testing.T) {
					args := strings.Fields(call)
					for i, arg := range args {
						args[i] = strings.NewReplacer("ROOT", n.path("root"), "DIR", n.dir, "ID", n.id, "broken_", "broken ").Replace(arg)
					}
					bare, wrapped := n.call(r.path, args...), n.call(n.path("lanyard oci"), args...)
					for _, said := range []*string{&bare.out, &bare.err, &wrapped.out, &wrapped.err} {
						*said = stamp.ReplaceAllString(*said, "TIME")
					}
					if wrapped != bare {
						t.Errorf("\n%+v, the runtime alone\n%+v", wrapped, bare)
					}
				})
			}
			t.Run("BRG-5 a container's life, and a file from a pipe", func(t *testing.T) {
				life := func(program, id string) (all []result) {
					spec := n.spec()
					spec["linux"].(map[string]any)["cgroupsPath"] = "/" + id
					n.write("bundle/config.json", text(spec))
					for _, args := range [][]string{
						{"create", "--bundle", n.path("bundle"), "--pid-file", n.path("pid"), id},
						{"start", id},
						{"exec", "--process", "/dev/stdin", id},
						{"kill", id, "KILL"},
						{"delete", "--force", id},
						{"state", id},
					} {
						cmd := n.command(program, append([]string{"--root", n.path("root")}, args...)...)
						if cmd.Stdin = strings.NewReader(`{"args":["/probe","exit=9"],"cwd":"/","user":{"uid":0,"gid":0}}`); args[0] == "create" {
							// Its pipes would be the container's, and stay open.
							must(t, cmd.Run())
							continue
						}
						got := n.run(cmd)
						got.err = retries.ReplaceAllString(strings.ReplaceAll(stamp.ReplaceAllString(got.err, "TIME"), id, "ID"), "")
						all = append(all, got)
					}
					return all
				}
				bare, wrapped := life(r.path, n.id+"-a"), life(n.path("lanyard oci"), n.id+"-b")
				if text, want := strings.Join(shown(wrapped), "\n"), strings.Join(shown(bare), "\n"); text != want || !strings.Contains(text, "\n9\n") {
					t.Errorf("\n%s, the runtime alone\n%s", text, want)
				}
			})
		})
	}
}

func shown(all []result) (lines []string) {
	for _, r := range all {
		lines = append(lines, strings.TrimSpace(strings.Join([]string{string(rune('0' + r.code)), r.out, r.err}, " ")))
	}
	return lines
}

func TestInheritance(t *testing.T) {
	n := newNode(t, runtimes(t)[0])
	// A program that tells what it was given.
	n.write("teller", `#!/bin/sh
printf '%s|' "$0" "$@"; echo; env -u _ | sort; readlink /proc/$$/cwd; umask; ulimit -a; ulimit -Ha; ls /proc/$$/fd; cat /proc/$$/loginuid; cat >&2
exec grep -E '^Sig[PBIC]|^Shd|^Cap|NoNewPrivs|Threads' /proc/self/status # by exec: while it forks, the shell blocks signals
`)
	must(t, os.Chmod(n.path("teller"), 0o755))
	n.configure(func(c *oci.Config) { c.Runtime = n.path("teller") })
	n.write("process.json", `{"args":["/probe"]}`)
	tell := func(program string) result {
		n.t.Helper()
		cmd := n.command("sh", "-c", `ulimit -Sn 777; umask 027; trap '' HUP INT; cd /usr; exec 7</dev/null "$0" "$@" 7`, program, "--root", "r w", "exec", "--process", n.path("process.json"), "", "é\xff")
		cmd.Stdin = strings.NewReader("input")
		return n.run(cmd)
	}
	t.Run("BRG-5 the runtime gets arguments, environment, directory, limits, signals and files as they came", func(t *testing.T) {
		bare, wrapped := tell(n.path("teller")), tell(n.path("lanyard oci"))
		if bare != wrapped || !strings.Contains(bare.out, "777") || wrapped.err != "input" {
			t.Errorf("\n%s\n%s, without the wrapper\n%s\n%s", wrapped.out, wrapped.err, bare.out, bare.err)
		}
	})
	t.Run("BRG-6 a runtime that ends by a signal or with a code ends so", func(t *testing.T) {
		n.write("teller", "#!/bin/sh\nkill -9 $$\n")
		if got := n.call(n.path("lanyard oci"), "state", "x"); got.code != -1 {
			t.Errorf("%+v", got)
		}
	})
}
