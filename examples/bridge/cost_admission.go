package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// admission writes what the API server itself says of its webhooks: the mean of all execs so far.
func (m *measure) admission(ctx context.Context) error {
	client, err := m.Admin().HTTP()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL()+"/metrics", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	sums, err := webhookTimes(answer.Body)
	if err != nil {
		return err
	}
	for _, kind := range []string{"admit", "validating"} {
		if s := sums[kind]; s.count > 0 {
			fmt.Fprintf(m.out, "webhook, a round trip from the API server, %s: mean %.2f ms of %.0f\n", kind, 1000*s.sum/s.count, s.count)
		}
	}
	return nil
}

type sum struct{ sum, count float64 }

// webhookTimes reads the API server's histogram of webhooks' times, by the kind of webhook.
func webhookTimes(metrics io.Reader) (map[string]sum, error) {
	const name = "apiserver_admission_webhook_admission_duration_seconds_"
	out := map[string]sum{}
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ours := strings.CutPrefix(lines.Text(), name)
		if !ours || !strings.Contains(rest, `operation="CONNECT"`) {
			continue
		}
		at := strings.LastIndexByte(rest, ' ')
		value, err := strconv.ParseFloat(rest[at+1:], 64)
		if err != nil {
			return nil, err
		}
		_, kind, _ := strings.Cut(rest, `type="`)
		kind, _, _ = strings.Cut(kind, `"`)
		s := out[kind]
		switch {
		case strings.HasPrefix(rest, "sum{"):
			s.sum += value
		case strings.HasPrefix(rest, "count{"):
			s.count += value
		}
		out[kind] = s
	}
	return out, lines.Err()
}
