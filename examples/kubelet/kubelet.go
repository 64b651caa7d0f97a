package kubelet

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/examples/kubelet/metrics"
	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
	"github.com/lanyard-dev/lanyard/examples/kubelet/server"
	"github.com/lanyard-dev/lanyard/execaudit"
	exec "github.com/lanyard-dev/lanyard/execaudit/kubelet"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// Kubelet is one node's. Make it with New, call Run once.
type Kubelet struct {
	config   Config
	log      *slog.Logger
	listener net.Listener
	runtime  *runtimeClients
	images   *puller.Puller
	node     *node
	pods     *pods.Manager
	events   record.EventBroadcaster
	http     *http.Server
}

// New checks the configuration, opens the port and prepares everything; nothing
// runs yet. log takes what goes wrong later; nil drops it.
func New(config Config, log *slog.Logger) (_ *Kubelet, err error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if playing := config.minor(); playing < config.EmulatedMinor {
		log.Warn("the Kubernetes version is newer than the newest known and is treated as that", "emulatedMinor", config.EmulatedMinor, "newest", playing)
	}
	gate, err := parseGates(config)
	if err != nil {
		return nil, err
	}
	k := &Kubelet{config: config, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	client, err := k.connect()
	if err != nil {
		return nil, err
	}
	return k, k.assemble(client, gate)
}

// connect opens the port and returns a client of the API server. Neither server nor
// runtime needs to answer yet.
func (k *Kubelet) connect() (_ *kubernetes.Clientset, err error) {
	rest, err := clientcmd.BuildConfigFromFlags("", k.config.Kubeconfig)
	if err != nil {
		return nil, err
	}
	rest.QPS, rest.Burst = 100, 200
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, err
	}
	if k.runtime, err = dialRuntime(k.config.RuntimeEndpoint, k.config.ImageEndpoint); err != nil {
		return nil, err
	}
	k.listener, err = net.Listen("tcp", k.config.Address)
	return client, err
}

// assemble makes the parts in the order in which they need each other.
func (k *Kubelet) assemble(client *kubernetes.Clientset, gate featuregate.MutableVersionedFeatureGate) (err error) {
	k.events = record.NewBroadcaster()
	recorder := k.events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: k.config.NodeName})
	k.events.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	k.node = &node{
		name: k.config.NodeName, address: k.listener.Addr(), version: "v" + gates.Version(k.config.minor()).String() + ".0",
		client: client, runtime: k.runtime.runtime, synced: func() error { return k.pods.Synced() },
	}
	meters := metrics.New(metrics.Sources{
		Desired: func() int { return len(k.pods.Pods()) },
		Running: k.runningPods,
		Gates:   gate,
		Events:  recorder,
	})
	if k.images, err = k.imagePuller(client, gate, meters, recorder); err != nil {
		return err
	}
	groups, err := gates.Groups(k.config.minor(), gate)
	if err != nil {
		return err
	}
	k.pods = pods.New(pods.Options{
		Node: k.config.NodeName, Root: k.config.RootDirectory, Client: client,
		Runtime: k.runtime.runtime, Images: k.runtime.images,
		Puller:  k.images,
		Admit:   admitter{groups, k.node.supportsGroupsPolicy, k.config.RuntimeClasses},
		Classes: k.config.RuntimeClasses, Events: recorder, Recorder: meters, Log: k.log,
		Relist: k.config.SyncFrequency.Duration, Backoff: k.config.RestartBackoff.Duration,
	})
	handler, err := k.guarded(client, gate, k.api(gate, meters))
	if err != nil {
		return err
	}
	k.http, err = k.server(handler)
	return err
}

func parseGates(config Config) (featuregate.MutableVersionedFeatureGate, error) {
	gate, err := gates.Kubelet(config.minor())
	if err != nil {
		return nil, err
	}
	return gate, gate.SetFromMap(config.FeatureGates)
}

// api returns the handlers, without a guard.
func (k *Kubelet) api(gate featuregate.FeatureGate, meters *metrics.Kubelet) *server.Server {
	return server.New(server.Options{
		Node: k.config.NodeName, Pods: k.pods, Runtime: k.runtime.runtime,
		Exec: exec.Exec{
			Gates:    execaudit.Gates{ExecEnvVar: gate.Enabled(gates.ExecEnvVar)},
			Reserved: k.config.reserved(),
			Trust:    exec.Trust{Names: k.config.TrustedExecUsers, Groups: k.config.TrustedExecGroups},
		},
		Policy:  negotiate.New(negotiate.Options{RequireSupport: k.config.RequireExecEnvSupport, Recorder: meters}),
		Metrics: meters.Handler(),
		Config:  k.config,
		LogDir:  filepath.Join(k.config.RootDirectory, "logs"),
		Healthy: k.pods.Synced,
	})
}

func (k *Kubelet) server(handler http.Handler) (*http.Server, error) {
	certificate, err := tls.LoadX509KeyPair(k.config.TLSCertFile, k.config.TLSPrivateKeyFile)
	if err != nil {
		return nil, err
	}
	authorities, err := clientAuthorities(k.config.ClientCAFile)
	if err != nil {
		return nil, err
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(k.log.Handler(), slog.LevelDebug),
		TLSConfig: &tls.Config{
			MinVersion:   tls.VersionTLS12,
			Certificates: []tls.Certificate{certificate},
			ClientAuth:   tls.RequestClientCert,
			ClientCAs:    authorities,
			NextProtos:   []string{"http/1.1"}, // sessions are upgraded connections, which HTTP/2 does not have
		},
	}, nil
}

// Address is where the API is served.
func (k *Kubelet) Address() string { return k.listener.Addr().String() }

// close lets go of what New opened.
func (k *Kubelet) close() error {
	var errs []error
	if k.events != nil {
		k.events.Shutdown()
	}
	if k.runtime != nil {
		errs = append(errs, k.runtime.close())
	}
	if k.listener != nil {
		if err := k.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the kubelet: %w", err)
	}
	return nil
}
