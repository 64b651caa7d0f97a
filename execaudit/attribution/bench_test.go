package attribution_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// live returns the bytes of the heap that are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// roomy returns a machine that evicts nothing.
func roomy() *attribution.Machine {
	return attribution.New(attribution.Options{MaxBytes: 1 << 30}, func(*attribution.Answer) {})
}

// openSessions are sessions with the audit log's first two stages, the journal's intent and start, a mark, and the
// first process.
func openSessions(m *attribution.Machine, n int) {
	for i := range n {
		id := fmt.Sprintf("%036d", i)
		a, e := audit(id, "alice"), first(id, 10+i, 100)
		a.Stage = attribution.StageRequestReceived
		m.AddAudit(&a)
		a.Stage = attribution.StageResponseStarted
		m.AddAudit(&a)
		e.Process.BootID, e.SessionID = "b", uint32(i+1)
		r := attribution.Record{
			Phase: attribution.PhaseIntent, Time: e.Time, Node: e.Node, ContainerID: webID, ExecID: id, AuditID: id, Namespace: "shop", Pod: "web-0", Container: "app",
			SessionID: e.SessionID, LoginUID: 2013265920, Process: attribution.Process{BootID: "b"},
		}
		m.AddRecord(&r)
		r.Phase, r.Process = attribution.PhaseStart, e.Process
		m.AddRecord(&r)
		m.AddEvent(&e)
	}
	m.Advance(dawn.Add(time.Hour))
}

// BenchmarkOpenSessions adds and answers a child's event while many sessions are open, and states what one of them
// holds, half an hour and more after it began: the answer about its first process is beyond revision.
func BenchmarkOpenSessions(b *testing.B) {
	for _, open := range []int{1, 1000, 100_000} {
		b.Run(strconv.Itoa(open), func(b *testing.B) {
			m := roomy()
			heap := live()
			openSessions(m, open)
			heap, counted, n := live()-heap, m.Stats().Bytes, 0
			var state bytes.Buffer
			if err := m.Save(&state); err != nil {
				b.Fatal(err)
			}
			saved := state.Len()
			b.ReportAllocs()
			for b.Loop() {
				e := marked(n%open, 200_000+n, dawn.Add(time.Hour+time.Duration(n)*time.Millisecond))
				m.AddEvent(&e)
				e.Kind = attribution.KindExit
				m.AddEvent(&e)
				m.Advance(e.Time)
				n++
			}
			b.ReportMetric(float64(heap)/float64(open), "heapB/session")
			b.ReportMetric(float64(counted)/float64(open), "countedB/session")
			b.ReportMetric(float64(saved)/float64(open), "savedB/session")
		})
	}
}

// marked is a process that the first process of open session i forked.
func marked(i, pid int, at time.Time) attribution.Event {
	e := child(first("", 10+i, 100), pid, pid)
	e.Process.BootID, e.Parent.BootID, e.SessionID, e.Time = "b", "b", uint32(i+1), at
	return e
}

// BenchmarkLiveProcesses states what a live process of an open session holds, a hundred of each session, when the
// answers about them are beyond revision.
func BenchmarkLiveProcesses(b *testing.B) {
	const sessions, each = 1000, 100
	for b.Loop() {
		m := roomy()
		openSessions(m, sessions)
		heap, counted := live(), m.Stats().Bytes
		for n := range each {
			for i := range sessions {
				e := marked(i, 200_000+n*sessions+i, dawn.Add(time.Hour+time.Duration(n)*time.Second))
				m.AddEvent(&e)
			}
		}
		m.Advance(dawn.Add(2 * time.Hour))
		b.ReportMetric(float64(live()-heap)/(sessions*each), "heapB/process")
		b.ReportMetric(float64(m.Stats().Bytes-counted)/(sessions*each), "countedB/process")
		runtime.KeepAlive(m)
	}
}

// BenchmarkDecode reads one line of each format.
func BenchmarkDecode(b *testing.B) {
	for _, format := range []string{"audit", "tetragon", "falco", "tracee", "spo", "journal", "procevents"} {
		line := samples(b, format)[0]
		b.Run(format, func(b *testing.B) {
			batch := attribution.Batch{Node: "n1"}
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decoders[format](line, &batch); err != nil {
					b.Fatal(err)
				}
				batch.Reset()
			}
		})
	}
}
