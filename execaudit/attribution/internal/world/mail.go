package world

import (
	"container/heap"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// Piece is one piece of evidence: one of the three.
type Piece struct {
	// Arrival is when it arrives, by no one's clock in particular.
	Arrival time.Time
	Audit   *attribution.Audit
	Record  *attribution.Record
	Event   *attribution.Event
}

// mail is what is on its way, ordered by when it arrives.
type mail struct {
	pieces []letter
	sent   int
}

type letter struct {
	Piece
	at   time.Duration
	sent int
}

// send lets a piece arrive after a delay; one of two hundred comes once more.
func (w *World) send(p Piece, delay time.Duration) {
	w.post(p, delay)
	if w.chance(1, 200) {
		w.post(p, w.soon())
	}
}

func (w *World) post(p Piece, delay time.Duration) {
	at := w.now + delay
	p.Arrival = Dawn.Add(at)
	w.mail.sent++
	heap.Push(&w.mail, letter{p, at, w.mail.sent})
}

// due reports whether a piece has arrived.
func (m *mail) due(now time.Duration) bool {
	return len(m.pieces) > 0 && m.pieces[0].at <= now
}

func (m *mail) pop() *Piece {
	l := heap.Pop(m).(letter)
	return &l.Piece
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (m *mail) Len() int      { return len(m.pieces) }
func (m *mail) Swap(i, j int) { m.pieces[i], m.pieces[j] = m.pieces[j], m.pieces[i] }
func (m *mail) Push(x any)    { m.pieces = append(m.pieces, x.(letter)) }

func (m *mail) Less(i, j int) bool {
	a, b := &m.pieces[i], &m.pieces[j]
	return a.at < b.at || a.at == b.at && a.sent < b.sent
}

func (m *mail) Pop() any {
	last := m.pieces[len(m.pieces)-1]
	m.pieces[len(m.pieces)-1] = letter{}
	m.pieces = m.pieces[:len(m.pieces)-1]
	return last
}
