package provider

import "runtime"

// AwaitWaiters returns when n callers wait for the runs of the pool's providers. It lets a test end a run knowing who
// has joined it, which no behaviour seen from outside tells.
func AwaitWaiters(p *Pool, n int) {
	for waiters(p) != n {
		runtime.Gosched()
	}
}

func waiters(p *Pool) int {
	sum := 0
	for _, m := range p.members {
		m.flights.mu.Lock()
		for _, f := range m.flights.running {
			sum += f.waiters
		}
		m.flights.mu.Unlock()
	}
	return sum
}
