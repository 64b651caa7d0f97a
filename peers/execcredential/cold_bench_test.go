package execcredential_test

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

// coldRounds is how many processes each contender starts.
const coldRounds = 400

// BenchmarkCold is a login: a process from start to credential. The floor is the process alone.
//
// The contenders take turns, and the median of each counts: what a process costs to start depends more on what else the
// machine does at that moment than on who starts it. So the time is coldRounds runs, whatever -benchtime says.
func BenchmarkCold(b *testing.B) {
	names := []string{"lanyard", "floor", "client-go"}
	took := medians(lanyardLogin(b), floorLogin(b), clientGoLogin(b))
	for i, name := range names {
		b.Run("login/"+name, func(b *testing.B) { b.ReportMetric(float64(took[i].Nanoseconds()), "ns/op") })
	}
}

// medians returns how long each of the runs takes when they are run in turn, in a new order each round: a run feels
// what the one before it has left to do.
func medians(runs ...func()) []time.Duration {
	took := make([][]time.Duration, len(runs))
	for range coldRounds {
		for _, i := range rand.Perm(len(runs)) {
			begin := time.Now()
			runs[i]()
			took[i] = append(took[i], time.Since(begin))
		}
	}
	middle := make([]time.Duration, len(runs))
	for i := range took {
		slices.Sort(took[i])
		middle[i] = took[i][coldRounds/2]
	}
	return middle
}

func lanyardLogin(b *testing.B) func() {
	source := newSource(b)
	return func() {
		source.Reset()
		if _, err := source.Credential(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func floorLogin(b *testing.B) func() {
	config := catConfig(b, "")
	return func() {
		if _, err := exec.Command(config.Command, redact.Reveal(config.Args)...).Output(); err != nil {
			b.Fatal(err)
		}
	}
}

func clientGoLogin(b *testing.B) func() {
	config := catConfig(b, "")
	r, n := newRequest(b), 0
	return func() {
		config.Env[0].Value = redact.New(strconv.Itoa(n)) // its cache keeps every configuration for ever
		n++
		request(b, clientGoWrapped(b, config), r)
	}
}
