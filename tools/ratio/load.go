package ratio

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Load is what the rest of the machine did while benchmarks ran.
type Load struct {
	Others float64 // share of all processors' time that other programs and the host took, 0 to 1
	Known  bool    // false where /proc/stat cannot be read
}

// MaxOthers is the share of the machine above which [Load.String] tells not to trust the figures.
const MaxOthers = 0.05

// String returns one line: the share of others and, above [MaxOthers], a warning.
func (l Load) String() string {
	switch {
	case !l.Known:
		return "load of other programs: unknown on this system"
	case l.Others > MaxOthers:
		return fmt.Sprintf("TOO BUSY TO BELIEVE: other programs took %.0f%% of the machine, more than %.0f%%", 100*l.Others, 100*MaxOthers)
	}
	return fmt.Sprintf("other programs took %.0f%% of the machine", 100*l.Others)
}

// meter measures a [Load].
type meter struct {
	start cpuTimes
	mine  time.Duration
	err   error
}

func startLoad() *meter {
	times, err := readCPUTimes("/proc/stat")
	return &meter{start: times, err: err}
}

// own takes the time of a child of ours, which may be nil, and of its children out of the others' share.
func (m *meter) own(child *os.ProcessState) {
	if child != nil {
		m.mine += child.UserTime() + child.SystemTime()
	}
}

func (m *meter) end() Load {
	times, err := readCPUTimes("/proc/stat")
	if m.err != nil || err != nil || times.all <= m.start.all {
		return Load{}
	}
	others := times.busy - m.start.busy - m.mine
	return Load{Others: max(0, float64(others)/float64(times.all-m.start.all)), Known: true}
}

// cpuTimes are those of all processors together since the start of the machine.
type cpuTimes struct{ busy, all time.Duration }

// tick is the unit of /proc/stat, the same on every Linux that Go runs on.
const tick = time.Second / 100

var errNoTimes = errors.New("no line of processor times")

// readCPUTimes reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, and the
// guests' times, which user and nice include.
func readCPUTimes(file string) (cpuTimes, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return cpuTimes{}, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return cpuTimes{}, fmt.Errorf("%s: %w", file, errNoTimes)
	}
	var times cpuTimes
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return cpuTimes{}, fmt.Errorf("%s: %w", file, err)
		}
		spent := time.Duration(n) * tick
		times.all += spent
		if idle := i == 3 || i == 4; !idle {
			times.busy += spent
		}
	}
	return times, nil
}
