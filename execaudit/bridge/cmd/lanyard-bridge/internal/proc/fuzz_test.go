//go:build linux

package proc_test

import (
	"os"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
)

func FuzzParseStat(f *testing.F) {
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte("12 (a) b) (c) Z 1 1 1 0 -1 4227084 64 77 0 1 0 0 0 0 20 0 1 0 3298825 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 1792\n"))
	f.Add([]byte(") ("))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		task, err := proc.ParseStat(text)
		if err == nil && (task.PID < 0 || task.PPID < 0) {
			t.Errorf("%q: %+v", text, task)
		}
	})
}

func TestParseStat(t *testing.T) {
	t.Run("BRG-3 a process's name may be anything", func(t *testing.T) {
		task, err := proc.ParseStat([]byte("12 (a) b) (c) Z 7 1 1 0 -1 4227084 64 77 0 1 0 0 0 0 20 0 1 0 3298825 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 1792\n"))
		want := proc.Task{PID: 12, PPID: 7, StartTicks: 3298825, Command: "a) b) (c", Zombie: true, WaitStatus: 1792}
		if err != nil || task != want {
			t.Errorf("%+v, %v, want %+v", task, err, want)
		}
	})
	for _, text := range []string{"", "1", "1 (a)", "1 (a) S", "x (a) S 1 1 1 0 -1 4 6 7 0 1 0 0 0 0 20 0 1 0 3298825 0"} {
		t.Run("BRG-3 another form is refused: "+text, func(t *testing.T) {
			if task, err := proc.ParseStat([]byte(text)); err == nil {
				t.Errorf("%+v", task)
			}
		})
	}
	t.Run("BRG-3 exit codes as runtimes have them", func(t *testing.T) {
		for status, want := range map[int]int{0: 0, 7 << 8: 7, 255 << 8: 255, 9: 137, 15: 143, 11 | 0x80: 139} {
			if got := proc.ExitCode(status); got != want {
				t.Errorf("ExitCode(%#x) = %d, want %d", status, got, want)
			}
		}
	})
}
