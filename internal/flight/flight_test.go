package flight_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lanyard-dev/lanyard/internal/flight"
)

type group = flight.Group[string, int]

// answers returns a function that counts its calls and answers with their number once it may.
func answers(calls *atomic.Int32, may <-chan struct{}) func(*flight.Run) (int, error) {
	return func(run *flight.Run) (int, error) {
		n := int(calls.Add(1))
		select {
		case <-may:
			return n, nil
		case <-run.Done():
			return 0, context.Cause(run)
		}
	}
}

func TestDo(t *testing.T) {
	t.Run("callers of one key share a run, those of another have their own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			var calls, began atomic.Int32
			may := make(chan struct{})
			var callers sync.WaitGroup
			for i := range 100 {
				callers.Go(func() {
					_, mine, err := g.Do(t.Context(), fmt.Sprint(i%2), flight.Options{}, answers(&calls, may))
					if err != nil {
						t.Errorf("Do = %v, want nil", err)
					}
					if mine {
						began.Add(1)
					}
				})
			}
			synctest.Wait()
			close(may)
			callers.Wait()
			if calls.Load() != 2 || began.Load() != 2 {
				t.Errorf("%d runs, %d callers began one, want 2 and 2", calls.Load(), began.Load())
			}
		})
	})
	t.Run("whoever comes after the end begins a new run", func(t *testing.T) {
		var g group
		var calls atomic.Int32
		may := make(chan struct{})
		close(may)
		for want := 1; want <= 3; want++ {
			if got, began, err := g.Do(t.Context(), "", flight.Options{}, answers(&calls, may)); got != want || !began || err != nil {
				t.Errorf("Do = %d, %t, %v, want %d, true, nil", got, began, err, want)
			}
		}
	})
	t.Run("a context that has ended begins nothing", func(t *testing.T) {
		var g group
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("away")
		cancel(cause)
		_, began, err := g.Do(ctx, "", flight.Options{Detached: true}, func(*flight.Run) (int, error) { panic("begun") })
		var left *flight.LeftError
		if began || !errors.As(err, &left) || !errors.Is(err, cause) {
			t.Errorf("Do = %t, %v, want false, *LeftError with the cause", began, err)
		}
	})
}

type valueKey struct{}

func TestLeaving(t *testing.T) {
	t.Run("a caller whose context ends leaves at once, and the others get the outcome", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			var calls atomic.Int32
			may := make(chan struct{})
			first, cancel := context.WithTimeout(context.WithValue(t.Context(), valueKey{}, "of the first"), time.Second)
			defer cancel()
			var value any
			go func() {
				_, _, _ = g.Do(first, "", flight.Options{}, func(run *flight.Run) (int, error) {
					value = run.Value(valueKey{})
					return answers(&calls, may)(run)
				})
			}()
			synctest.Wait()
			stays := make(chan int)
			go func() { got, _, _ := g.Do(t.Context(), "", flight.Options{}, answers(&calls, may)); stays <- got }()
			synctest.Wait()
			time.Sleep(time.Minute) // of the bubble's clock: the first has left
			close(may)
			if got := <-stays; got != 1 || calls.Load() != 1 {
				t.Errorf("outcome %d after %d runs, want the first run's", got, calls.Load())
			}
			if value != "of the first" {
				t.Errorf("the run's context has %v, want the value of the first caller's", value)
			}
		})
	})
	t.Run("a run ends with its last caller, and the next caller does not join it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			ended := make(chan error, 1)
			linger := make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _, err := g.Do(ctx, "", flight.Options{}, func(run *flight.Run) (int, error) {
				<-run.Done()
				ended <- context.Cause(run)
				<-linger
				return 1, nil
			})
			var left *flight.LeftError
			if !errors.As(err, &left) || left.Waited != time.Second || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Do = %v, want *LeftError after 1s", err)
			}
			if cause := <-ended; !errors.Is(cause, flight.ErrAbandoned) || g.Overdue() != 1 {
				t.Errorf("the run ended with %v, %d overdue, want ErrAbandoned, 1", cause, g.Overdue())
			}
			got, began, err := g.Do(t.Context(), "", flight.Options{}, func(*flight.Run) (int, error) { return 2, nil })
			if got != 2 || !began || err != nil {
				t.Errorf("the next Do = %d, %t, %v, want 2, true, nil", got, began, err)
			}
			close(linger)
			synctest.Wait()
			if g.Overdue() != 0 {
				t.Errorf("%d overdue after the return, want 0", g.Overdue())
			}
		})
	})
	t.Run("a detached run goes on without callers, and later ones join it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			var calls atomic.Int32
			slow := func(run *flight.Run) (int, error) {
				calls.Add(1)
				select {
				case <-time.After(time.Minute):
					return 1, nil
				case <-run.Done():
					return 0, context.Cause(run)
				}
			}
			for range 59 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				if _, _, err := g.Do(ctx, "", flight.Options{Detached: true}, slow); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Do = %v, want DeadlineExceeded", err)
				}
				cancel()
			}
			if got, began, err := g.Do(t.Context(), "", flight.Options{Detached: true}, slow); got != 1 || began || err != nil || calls.Load() != 1 {
				t.Errorf("Do = %d, %t, %v after %d runs, want 1, false, nil after 1", got, began, err, calls.Load())
			}
		})
	})
}

func TestDetach(t *testing.T) {
	t.Run("from then on the run goes on without callers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			may := make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _, err := g.Do(ctx, "", flight.Options{}, func(run *flight.Run) (int, error) {
				run.Detach()
				<-may
				return 1, run.Err()
			})
			if !errors.Is(err, context.DeadlineExceeded) || g.Overdue() != 0 {
				t.Errorf("Do = %v, %d overdue, want DeadlineExceeded, 0", err, g.Overdue())
			}
			call, began := g.Join(t.Context(), "", flight.Options{}, nil)
			close(may)
			if got, err := call.Wait(t.Context()); got != 1 || began || err != nil {
				t.Errorf("Wait = %d, %t, %v, want 1, false, nil", got, began, err)
			}
		})
	})
}

func TestLimit(t *testing.T) {
	for _, looks := range []bool{true, false} {
		t.Run(fmt.Sprintf("nobody waits beyond it, whether the function looks at its context: %t", looks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g group
				linger := make(chan struct{})
				begin := time.Now()
				_, _, err := g.Do(t.Context(), "", flight.Options{Limit: time.Second, Detached: true}, func(run *flight.Run) (int, error) {
					if end, ok := run.Deadline(); !ok || !end.Equal(begin.Add(time.Second)) {
						t.Errorf("the run's deadline is %v, %t", end, ok)
					}
					if looks {
						<-run.Done()
						return 1, nil
					}
					<-linger
					return 1, nil
				})
				var limit *flight.LimitError
				if !errors.As(err, &limit) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
					t.Errorf("Do = %v after %v, want *LimitError after 1s", err, time.Since(begin))
				}
				close(linger)
			})
		})
	}
	t.Run("a run without callers ends at it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			var cause error
			if !g.Start(t.Context(), "", flight.Options{Limit: time.Second, Detached: true}, func(run *flight.Run) (int, error) {
				<-run.Done()
				cause = context.Cause(run)
				return 0, cause
			}) {
				t.Error("Start = false, want true")
			}
			time.Sleep(2 * time.Second) // of the bubble's clock
			synctest.Wait()
			var limit *flight.LimitError
			if !errors.As(cause, &limit) || g.Overdue() != 0 {
				t.Errorf("the run ended with %v, want *LimitError", cause)
			}
		})
	})
	t.Run("an outcome within it is not touched by it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			call, _ := g.Join(t.Context(), "", flight.Options{Limit: time.Second}, func(*flight.Run) (int, error) { return 1, nil })
			time.Sleep(time.Minute) // of the bubble's clock
			if got, err := call.Wait(t.Context()); got != 1 || err != nil {
				t.Errorf("Wait = %d, %v, want 1, nil", got, err)
			}
		})
	})
}

func TestBrokenFunctions(t *testing.T) {
	cause := errors.New("open-sesame-4711")
	cases := map[string]struct {
		run  func(*flight.Run) (int, error)
		want func(error) bool
	}{
		"a panic": {func(*flight.Run) (int, error) { panic(cause) }, func(err error) bool {
			var panicked *flight.PanicError
			return errors.As(err, &panicked) && panicked.Value() == cause && errors.Is(err, cause) &&
				strings.Contains(string(panicked.Stack()), "TestBrokenFunctions")
		}},
		"a panic of the runtime": {func(*flight.Run) (int, error) { return []int{}[len(t.Name()):][1], nil }, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "out of range")
		}},
		"the end of its goroutine": {func(*flight.Run) (int, error) { runtime.Goexit(); return 0, nil }, func(err error) bool {
			return errors.Is(err, flight.ErrGoexit)
		}},
		"a panic after Land": {func(run *flight.Run) (int, error) { run.Land(); panic(cause) }, func(err error) bool {
			return errors.Is(err, cause)
		}},
	}
	for name, c := range cases {
		t.Run(name+" is the error of every caller", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g group
				may := make(chan struct{})
				for range 10 {
					go func() {
						_, _, err := g.Do(t.Context(), "", flight.Options{}, func(run *flight.Run) (int, error) { <-may; return c.run(run) })
						if !c.want(err) {
							t.Errorf("Do = %v (%T)", err, err)
						}
						var printed strings.Builder
						slog.New(slog.NewJSONHandler(&printed, nil)).Info("run", "err", err)
						for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
							fmt.Fprintf(&printed, verb, err)
							if panicked := new(flight.PanicError); errors.As(err, &panicked) {
								fmt.Fprintf(&printed, verb, []flight.PanicError{*panicked})
							}
						}
						if strings.Contains(printed.String(), cause.Error()) {
							t.Errorf("MOD-9 the error shows what the run panicked with: %s", printed.String())
						}
					}()
				}
				synctest.Wait()
				close(may)
				synctest.Wait()
				if got, _, err := g.Do(t.Context(), "", flight.Options{}, func(*flight.Run) (int, error) { return 7, nil }); got != 7 || err != nil {
					t.Errorf("the next Do = %d, %v, want 7, nil", got, err)
				}
			})
		})
	}
}

func TestLand(t *testing.T) {
	t.Run("after it the run cannot be joined, abandoned or ended, and its callers get the outcome", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			may := make(chan struct{})
			landed := func(run *flight.Run) (int, error) {
				if !run.Land() {
					t.Error("Land = false, want true")
				}
				<-may
				return 1, context.Cause(run)
			}
			call, _ := g.Join(t.Context(), "", flight.Options{Limit: time.Second}, landed)
			synctest.Wait()
			g.End("", errors.New("ended"))
			time.Sleep(time.Minute) // of the bubble's clock
			if !g.Start(t.Context(), "", flight.Options{}, func(*flight.Run) (int, error) { return 2, nil }) {
				t.Error("Start = false, want a second run")
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			_, _ = call.Wait(gone)
			close(may)
			synctest.Wait()
			if got, err := call.Wait(t.Context()); got != 1 || err != nil {
				t.Errorf("Wait = %d, %v, want what the function returned", got, err)
			}
		})
	})
	t.Run("it is false for a run that has been given up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			defer g.Close(nil)
			land := make(chan bool, 1)
			g.Start(t.Context(), "", flight.Options{}, func(run *flight.Run) (int, error) {
				<-run.Done()
				land <- run.Land()
				return 1, nil
			})
			g.End("", errors.New("ended"))
			if <-land {
				t.Error("Land = true, want false")
			}
		})
	})
}

func TestClose(t *testing.T) {
	t.Run("it ends every run, tells every caller, and waits for the functions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			closed := errors.New("closed")
			var returned atomic.Int32
			var callers sync.WaitGroup
			for i := range 20 {
				callers.Go(func() {
					_, _, err := g.Do(t.Context(), fmt.Sprint(i%5), flight.Options{Detached: i%2 == 0}, func(run *flight.Run) (int, error) {
						<-run.Done()
						time.Sleep(time.Second) // of the bubble's clock: it tidies up
						returned.Add(1)
						return 1, nil
					})
					if !errors.Is(err, closed) {
						t.Errorf("Do = %v, want the error of Close", err)
					}
				})
			}
			synctest.Wait()
			g.Close(closed)
			if returned.Load() != 5 || g.Overdue() != 0 {
				t.Errorf("%d functions have returned, %d are overdue, want 5, 0", returned.Load(), g.Overdue())
			}
			callers.Wait()
			g.Close(errors.New("twice"))
			if _, began, err := g.Do(t.Context(), "", flight.Options{}, nil); began && err == nil || !errors.Is(err, closed) {
				t.Errorf("Do after Close = %v, want the error of the first Close", err)
			}
			if g.Start(t.Context(), "", flight.Options{}, nil) {
				t.Error("Start after Close = true, want false")
			}
		})
	})
	t.Run("End ends one run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g group
			ended := errors.New("ended")
			var calls atomic.Int32
			may := make(chan struct{})
			outcomes := map[string]chan error{"a": make(chan error, 1), "b": make(chan error, 1)}
			for key, outcome := range outcomes {
				go func() {
					_, _, err := g.Do(t.Context(), key, flight.Options{}, answers(&calls, may))
					outcome <- err
				}()
			}
			synctest.Wait()
			g.End("a", ended)
			g.End("none", ended)
			if err := <-outcomes["a"]; !errors.Is(err, ended) {
				t.Errorf("Do of a = %v, want the error of End", err)
			}
			close(may)
			if err := <-outcomes["b"]; err != nil {
				t.Errorf("Do of b = %v, want nil", err)
			}
		})
	})
}

// TestOverdueIsTold looks the moment a caller is told: whoever bounds the overdue must not find one too few.
func TestOverdueIsTold(t *testing.T) {
	t.Run("KAZ-20 a caller that was told of the limit finds the run counted", func(t *testing.T) {
		for range 2000 {
			var g group
			let := make(chan struct{})
			_, _, err := g.Do(t.Context(), "", flight.Options{Limit: time.Microsecond}, func(*flight.Run) (int, error) {
				<-let
				return 0, nil
			})
			if n := g.Overdue(); n != 1 {
				t.Fatalf("Do = %v with %d overdue, want 1", err, n)
			}
			close(let)
			g.Close(flight.ErrAbandoned)
		}
	})
}
