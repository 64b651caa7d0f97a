package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/keys"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Limits of the servers. The API server keeps few connections, and sends many requests on each.
const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 15 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = 3 * time.Minute
	maxHeaderBytes  = 32 << 10 // 32 KiB
	shutdownTimeout = 10 * time.Second
)

// server is the webhook's state while it runs.
type server struct {
	Options
	log     *slog.Logger
	metrics *metrics
	ready   atomic.Bool

	pair    *watched[*tls.Certificate]
	keys    *watched[[]keys.Private]
	callers callers
	records *lineFile
	audits  *lineFile // nil without an audit file
	cluster *cluster
}

// run serves until the context ends, and returns what ended it otherwise.
func run(ctx context.Context, o Options, log *slog.Logger) (err error) {
	s := &server{Options: o, log: log, metrics: newMetrics()}
	if err := s.open(); err != nil {
		return errors.Join(err, s.close())
	}
	defer func() { err = errors.Join(err, s.close()) }()
	// What answers need goes on while the last requests are answered.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	failed := make(chan error, 2)

	beside, err := net.Listen("tcp", o.MetricsListen)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	metricsServer := s.newServer(s.metrics.handler(&s.ready))
	defer metricsServer.Close()
	go func() { failed <- fmt.Errorf("metrics: %w", metricsServer.Serve(beside)) }()

	if err := s.cluster.run(ctx, work); err != nil {
		if ctx.Err() != nil {
			return nil // it was ended before it was ready
		}
		return err
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return err
	}
	main := s.newServer(s.handler())
	main.TLSConfig = tlsConfig(s.pair, s.callers.authorities != nil)
	defer main.Close()
	go func() { failed <- main.ServeTLS(listener, "", "") }()
	go s.renewals(work)
	s.ready.Store(true)
	log.Info("ready", "listen", listener.Addr().String(), "keys", fmt.Sprint(s.signer().Public().IDs()))
	if o.listening != nil {
		o.listening(listener.Addr(), beside.Addr())
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return s.drain(main)
}

// drain lets requests end: first while new ones are taken, until nobody sends any here, then without.
func (s *server) drain(main *http.Server) error {
	s.ready.Store(false)
	s.log.Info("ending", "drain", s.Drain)
	time.Sleep(s.Drain)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	return main.Shutdown(ctx)
}

// open reads and opens all files, and makes the clients.
func (s *server) open() (err error) {
	if s.pair, err = watch(parsePair, s.CertFile, s.KeyFile); err != nil {
		return fmt.Errorf("serving certificate: %w", err)
	}
	if s.keys, err = watch(parseKeys, s.SigningKeyFile); err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	s.callers.names = s.ClientNames
	if s.ClientCAFile != "" {
		if s.callers.authorities, err = watch[*x509.CertPool](parseAuthorities, s.ClientCAFile); err != nil {
			return fmt.Errorf("client authorities: %w", err)
		}
	}
	if s.PathSecretFile != "" {
		if s.callers.paths, err = watch(parsePaths, s.PathSecretFile); err != nil {
			return fmt.Errorf("secret path: %w", err)
		}
	}
	turn := rotation{bytes: s.RecordsBytes, keep: s.RecordsKeep}
	if s.records, err = openLines(s.RecordsFile, s.SyncRecords, turn); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if s.AuditFile != "" {
		if s.audits, err = openLines(s.AuditFile, s.SyncRecords, turn); err != nil {
			return fmt.Errorf("audit events: %w", err)
		}
	}
	for _, file := range s.lineFiles() {
		file.unrotated = func(err error) {
			s.log.Error("a file cannot be rotated, and grows", "file", file.name, "error", err)
		}
	}
	config, err := restConfig(s.Kubeconfig)
	if err != nil {
		return fmt.Errorf("credentials for the API server: %w", err)
	}
	s.cluster, err = newCluster(config, s.Namespace)
	return err
}

func (s *server) close() error {
	var errs []error
	for _, file := range s.lineFiles() {
		errs = append(errs, file.close())
	}
	return errors.Join(errs...)
}

func (s *server) lineFiles() []*lineFile {
	var files []*lineFile
	for _, file := range []*lineFile{s.records, s.audits} {
		if file != nil {
			files = append(files, file)
		}
	}
	return files
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

func parseKeys(files [][]byte) ([]keys.Private, error) { return keys.Parse(files[0]) }

// signerAt returns the keys in use: one whose time has not come is known, and signs nothing.
func signerAt(private []keys.Private, now time.Time) admission.Signer {
	var due, known []token.Key
	for _, key := range private {
		if now.Before(key.From) {
			known = append(known, key.Key)
		} else {
			due = append(due, key.Key)
		}
	}
	return admission.NewSigner(due...).Knowing(known...)
}

func (s *server) signer() admission.Signer { return signerAt(s.keys.get(), time.Now()) }

// handler serves the API server.
func (s *server) handler() http.Handler {
	o := admission.Options{
		Lookup: s.cluster, Recorder: recorder{s.records}, Signer: s.signer, Policy: s.policy(),
		Timeout: s.Timeout, Observe: s.metrics.observe, Logger: s.log,
	}
	mux := http.NewServeMux()
	mux.Handle("/mutate", admission.Mutating(o))
	mux.Handle("/validate", admission.Validating(o))
	if s.audits != nil {
		mux.Handle("POST /audit", auditHandler(s.audits, func(events int) { s.metrics.auditEvents.Add(float64(events)) }))
	}
	return s.callers.admit(mux, s.metrics.stranger)
}

func (s *server) newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		// Strangers' handshakes are no news.
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// renewals reads changed files again, and on SIGHUP opens the written ones again, until the context ends.
func (s *server) renewals(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	every := time.NewTicker(cmp.Or(s.reload, defaultReload))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			for _, file := range s.lineFiles() {
				if err := file.reopen(); err != nil {
					s.log.Error("a file cannot be opened again", "file", file.name, "error", err)
				}
			}
			s.renew()
		case <-every.C:
			s.renew()
		}
	}
}

func (s *server) renew() {
	read := []renewable{s.pair, s.keys}
	if s.callers.authorities != nil {
		read = append(read, s.callers.authorities)
	}
	if s.callers.paths != nil {
		read = append(read, s.callers.paths)
	}
	for _, file := range read {
		changed, err := file.renew()
		switch {
		case err != nil:
			s.metrics.unreadable.WithLabelValues(file.name()).Inc()
			s.log.Error("a changed file cannot be used; what it said before stays in use", "file", file.name(), "error", err)
		case changed:
			s.log.Info("read again", "file", file.name())
		}
	}
}
