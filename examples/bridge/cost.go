package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Measured is how many sessions [Measure] counts on each side; Warmup come before.
const (
	Measured = 200
	Warmup   = 10
)

// Budget is by how much the median may be above that without the bridge, the disk's sync apart.
const Budget = 3 * time.Millisecond

// Measure starts a rig in dir and writes what the bridge costs: see [Rig.Measure].
func Measure(ctx context.Context, dir string, out io.Writer) (err error) {
	r, err := Start(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	return r.Measure(ctx, Warmup, Measured, out)
}

// Measure writes what the bridge costs: the same exec through the same kubelet and containerd with it and without, in
// turns; once as it is, and once where nothing is synced to the disk; and each part by itself. The rig's spool,
// journal and records are in memory afterwards.
func (r *Rig) Measure(ctx context.Context, warmup, measured int, out io.Writer) (err error) {
	m, err := newMeasure(ctx, r, out)
	if err != nil {
		return err
	}
	m.warmup, m.measured = warmup, measured
	defer func() { err = errors.Join(err, m.cri.Close()) }()
	if _, err := m.execs(ctx, "as it is"); err != nil {
		return err
	}
	synced := func(i int) (time.Duration, error) { return timed(func() error { return syncedFile(r.SpoolDir(), i) }) }
	if err := m.alone("a file and its directory synced to this disk", synced); err != nil {
		return err
	}
	if err := r.withoutSync(ctx); err != nil {
		return err
	}
	more, err := m.execs(ctx, "nothing synced to the disk")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  budget %v more at the median: %s\n", Budget, map[bool]string{true: "held", false: "not held"}[more <= Budget])
	return m.parts(ctx)
}

// measure has what is compared.
type measure struct {
	*Rig
	out              io.Writer
	cri              *CRI
	with, without    side
	warmup, measured int
}

// side is a pod and a user: one whose execs the bridge marks, or one whose execs it does not see.
type side struct {
	pod  *corev1.Pod
	user *kubernetes.User
}

func newMeasure(ctx context.Context, r *Rig, out io.Writer) (_ *measure, err error) {
	m, class, bare := &measure{Rig: r, out: out}, BareClass, &corev1.Pod{}
	bare.Spec.RuntimeClassName = &class
	// The webhook's configuration leaves this group out.
	m.with.user, err = r.Person(ctx, "with")
	if err == nil {
		m.without.user, err = r.Person(ctx, "without", "lanyard:break-glass")
	}
	if err == nil {
		m.with.pod, err = r.Run(ctx, &corev1.Pod{})
	}
	if err == nil {
		m.without.pod, err = r.Run(ctx, bare)
	}
	if err == nil {
		m.cri, err = DialCRI(r.worker().Socket())
	}
	return m, err
}

// execs compares execs through the API server.
func (m *measure) execs(ctx context.Context, what string) (more time.Duration, _ error) {
	exec := func(s side) func(int) (time.Duration, error) {
		return func(int) (time.Duration, error) {
			return timed(func() error {
				got, err := s.user.Exec(ctx, kubernetes.Session{Pod: s.pod.Name, Command: []string{testimage.Program, "exit", "0"}})
				if err == nil && got.Code != 0 {
					err = fmt.Errorf("exit code %d: %s", got.Code, got.Stderr)
				}
				return err
			})
		}
	}
	return m.compare("exec by the API server, "+what, exec(m.with), exec(m.without))
}

// parts compares what each part does by itself.
func (m *measure) parts(ctx context.Context) error {
	command := []string{testimage.Program, "exit", "0"}
	run := func(s side, signed bool) func(int) (time.Duration, error) {
		return func(int) (time.Duration, error) {
			full := command
			if signed {
				text, err := m.Key().Sign(NewToken(s.pod, command...))
				if err != nil {
					return 0, err
				}
				full = append([]string{text}, command...)
			}
			return timed(func() error {
				_, err := m.cri.Run(ctx, ContainerID(s.pod, ""), full...)
				return err
			})
		}
	}
	_, signed := m.compare("ExecSync by containerd: a token, against no wrapper", run(m.with, true), run(m.without, false))
	_, unsigned := m.compare("ExecSync by containerd: the wrapper without a token, against no wrapper", run(m.with, false), run(m.without, false))
	return errors.Join(signed, unsigned, m.admission(ctx))
}

// compare measures two in turns, writes both and the difference, and returns that of the medians.
func (m *measure) compare(what string, with, without func(int) (time.Duration, error)) (more time.Duration, _ error) {
	var times [2][]time.Duration
	for i := range m.warmup + m.measured {
		// The two take turns in going first, because the second may find things warm.
		for _, which := range [][]int{{0, 1}, {1, 0}}[i%2] {
			took, err := []func(int) (time.Duration, error){with, without}[which](i)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", what, err)
			}
			if i >= m.warmup {
				times[which] = append(times[which], took)
			}
		}
	}
	fmt.Fprintf(m.out, "%s, %d each in turns\n", what, m.measured)
	for _, q := range []struct {
		name  string
		share float64
	}{{"p10", 0.1}, {"median", 0.5}, {"p99", 0.99}} { // the first is the nearest to an idle machine
		a, b := quantile(times[0], q.share), quantile(times[1], q.share)
		fmt.Fprintf(m.out, "  %-6s with %6.2f ms  without %6.2f ms  difference %+.2f ms\n", q.name, ms(a), ms(b), ms(a-b))
	}
	return quantile(times[0], 0.5) - quantile(times[1], 0.5), nil
}

// alone measures one thing.
func (m *measure) alone(what string, once func(int) (time.Duration, error)) error {
	var times []time.Duration
	for i := range m.measured {
		took, err := once(i)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		times = append(times, took)
	}
	fmt.Fprintf(m.out, "%s, %d times\n  median %.2f ms  p99 %.2f ms\n", what, m.measured, ms(quantile(times, 0.5)), ms(quantile(times, 0.99)))
	return nil
}

func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

func quantile(times []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(float64(len(sorted))*share), len(sorted)-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// syncedFile does what the wrapper's record needs of the disk.
func syncedFile(dir string, number int) error {
	name := filepath.Join(dir, fmt.Sprintf("measured-%d", number))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 800)) // as a record is long
	err = errors.Join(err, f.Sync(), f.Close())
	d, opened := os.Open(dir)
	if err = errors.Join(err, opened); err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close(), os.Remove(name))
}

// withoutSync has the spool, the journal and the webhook's records in memory, where a sync costs nothing.
func (r *Rig) withoutSync(ctx context.Context) error {
	if err := r.Settle(ctx); err != nil {
		return err
	}
	r.daemon.Stop(webhookGrace)
	err := r.worker().Do(func() error {
		return errors.Join(unix.Mount("tmpfs", spoolDir, "tmpfs", 0, "mode=0700"), unix.Mount("tmpfs", filepath.Dir(journalFile), "tmpfs", 0, "mode=0700"))
	})
	return errors.Join(err, r.daemon.Start(ctx), r.RestartWebhook(ctx, "--records-sync=false"))
}
