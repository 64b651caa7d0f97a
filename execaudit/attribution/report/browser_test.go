package report_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// browser is a Chromium without a window, with one tab, driven over its DevTools pipe.
type browser struct {
	t       *testing.T // the running one; a subtest puts itself here
	out     io.Writer
	in      *bufio.Reader
	session string
	last    int
}

// openBrowser skips the test where there is no Chromium. The browser ends with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	theirIn, out := pipe(t)
	in, theirOut := pipe(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--window-size=1280,720", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // its file descriptors 3 and 4
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	b := &browser{t: t, out: out, in: bufio.NewReader(in)}
	t.Cleanup(func() {
		b.t = t
		b.call("Browser.close", nil, nil)
		_ = cmd.Wait()
		cancel()
	})
	var tab struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &tab)
	b.call("Target.attachToTarget", map[string]any{"targetId": tab.TargetID, "flatten": true}, &tab)
	b.session = tab.SessionID
	b.call("Page.enable", nil, nil)
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// call sends one command and waits for its result.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	text, err := json.Marshal(struct {
		ID      int            `json:"id"`
		Session string         `json:"sessionId,omitempty"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params,omitempty"`
	}{b.last, b.session, method, params})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		text, err := b.in.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var reply struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(bytes.TrimRight(text, "\x00"), &reply); err != nil {
			b.t.Fatal(err)
		}
		if reply.ID != b.last {
			continue // an event
		}
		if reply.Error != nil {
			b.t.Fatalf("%s: %s", method, reply.Error)
		}
		if result == nil {
			return
		}
		if err := json.Unmarshal(reply.Result, result); err != nil {
			b.t.Fatal(err)
		}
		return
	}
}

// eval runs a script, waits for its promise if it returns one, and stores its value.
func (b *browser) eval(value any, script string) {
	b.t.Helper()
	var reply struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &reply)
	if reply.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, reply.ExceptionDetails)
	}
	if value == nil {
		return
	}
	if err := json.Unmarshal(reply.Result.Value, value); err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
}

// click presses the mouse in the middle of the first element that the selector finds.
func (b *browser) click(selector string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	b.eval(&at, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`, selector))
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// write types text into the element, as a keyboard does, instead of what it holds.
func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.eval(nil, fmt.Sprintf(`document.querySelector(%q).select()`, selector))
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}
