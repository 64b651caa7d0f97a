package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// browse returns the page as a browser without a window shows it.
func browse(t *testing.T, path string) string {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+path)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := report.NewPage(f)
	for i := range 10_000 { // 100 sessions of 10 users, every hundredth event a forgery
		v := attribution.Corroborated
		if i%100 == 99 {
			v = attribution.Conflicting
		}
		a := sample(v)
		s := a.Session
		if s == nil {
			s = a.Claimed
		}
		a.AuditID = fmt.Sprintf("id-%d", i%100)
		s.AuditID, s.User.Name = a.AuditID, fmt.Sprintf("user-%d", i%10)
		a.Event.Time = at.Add(time.Duration(i) * time.Millisecond)
		if err := p.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("ATT-9 ten thousand events are shown, a forgery marked by a word", func(t *testing.T) {
		dom := browse(t, path)
		if lanes := strings.Count(dom, `class="lane"`); lanes != 100 || !strings.Contains(dom, "10000 events, 100 lanes") || !strings.Contains(dom, ">conflicting 100<") {
			t.Errorf("%d lanes", lanes)
		}
	})
	t.Run("ATT-9 ATT-10 the filter leaves one user", func(t *testing.T) {
		dom := browse(t, path+"#user=user-3")
		if lanes := strings.Count(dom, `class="lane"`); lanes != 10 || !strings.Contains(dom, "1000 events, 10 lanes") {
			t.Errorf("%d lanes", lanes)
		}
	})
}
