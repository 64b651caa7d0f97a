package procwatch

import (
	"os"
	"testing"
)

func TestProgram(t *testing.T) {
	l, ok := lifeOf(os.Getpid())
	if !ok {
		t.Fatal("this process is gone")
	}
	t.Run("ATT-2 the program of the process that started then", func(t *testing.T) {
		if _, argv := program(os.Getpid(), l.ticks); len(argv) == 0 || argv[0] != os.Args[0] {
			t.Errorf("argv = %q, want %q first", argv, os.Args[0])
		}
	})
	t.Run("ATT-2 nothing of another process that has the PID by now", func(t *testing.T) {
		if c, argv := program(os.Getpid(), l.ticks-1); c != (claims{}) || argv != nil {
			t.Errorf("program = %q, %q", c, argv)
		}
		if m, ok := markOf(os.Getpid(), l.ticks-1); ok || m != (mark{}) {
			t.Errorf("mark = %+v, %v", m, ok)
		}
	})
}
