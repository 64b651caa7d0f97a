package credproviderkubelet_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

// coldRounds is how many processes each contender starts.
const coldRounds = 400

// BenchmarkColdLookup looks up an image whose answer is not kept: one process each time. The floor is os/exec alone.
//
// The contenders take turns, and the median of each counts: what a process costs to start depends more on what else the
// machine does at that moment than on who starts it. So the time is coldRounds runs, whatever -benchtime says.
func BenchmarkColdLookup(b *testing.B) {
	names := []string{"lanyard", "floor"}
	took := medians(lanyardLookup(b), floorLookup(b))
	for i, name := range names {
		b.Run("plugin/"+name, func(b *testing.B) { b.ReportMetric(float64(took[i].Nanoseconds()), "ns/op") })
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

func lanyardLookup(b *testing.B) func() {
	file, dir := write(b, providers(0, 1, 0))
	pool, err := provider.Open(file, dir, provider.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		if found, err := pool.Lookup(context.Background(), image, provider.Pod{}); len(found) != 1 || err != nil {
			b.Fatal(found, err)
		}
	}
}

func floorLookup(b *testing.B) func() {
	request, err := credprovider.EncodeRequest(credprovider.Request{APIVersion: credprovider.V1, Image: image})
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		var stdout, stderr bytes.Buffer
		process := exec.Command(binary)
		process.Stdin, process.Stdout, process.Stderr = bytes.NewReader(request), &stdout, &stderr
		if err := process.Run(); err != nil {
			b.Fatal(err)
		}
		sink = stdout.Len()
	}
}
