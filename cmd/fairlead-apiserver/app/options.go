// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apiserver"
	"fairlead.dev/fairlead/pkg/codec"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	fairleadscheme "fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
	"fairlead.dev/fairlead/pkg/render"
)

// Options are the flags as the user gave them. Those of serving, authentication and authorization are the usual ones of
// API servers. There are none for storage and admission plugins: the server stores nothing.
type Options struct {
	Kubeconfig     string
	ShutdownDelay  time.Duration
	ServingName    string
	Limits         apiserver.Limits
	Platform       apiserver.Platform
	Leader         apiserver.Leader
	SecureServing  *genericoptions.SecureServingOptionsWithLoopback
	Authentication *genericoptions.DelegatingAuthenticationOptions
	Authorization  *genericoptions.DelegatingAuthorizationOptions
	Logging        *logsapi.LoggingConfiguration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	serving := genericoptions.NewSecureServingOptions()
	serving.BindPort = 8443
	serving.ServerCert.CertDirectory = "" // A certificate that no file names is made in memory.
	// kube-apiserver multiplexes the requests of all users, watches and logs included, over few connections.
	serving.HTTP2MaxStreamsPerConnection = 1000
	return &Options{
		Limits:   apiserver.DefaultLimits(),
		Platform: defaultPlatform(),
		Leader: apiserver.Leader{
			Port: 8443, ServerName: "fairlead-metrics.fairlead-system.svc", TokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
		},
		SecureServing:  serving.WithLoopback(),
		Authentication: genericoptions.NewDelegatingAuthenticationOptions(),
		Authorization:  genericoptions.NewDelegatingAuthorizationOptions(),
		Logging:        logs.NewOptions(),
	}
}

// defaultPlatform has the controller's defaults. A rendering lets every ServiceAccount pass: the webhook reviews who names one.
func defaultPlatform() apiserver.Platform {
	return apiserver.Platform{
		Validation: validation.Options{SecurityProfile: podsecurity.LevelRestricted, ForeignServiceAccounts: true},
		Facts:      render.Facts{RouteControllerNamespaces: []string{"ingress-nginx", "traefik"}, MonitoringNamespaces: []string{"monitoring"}},
	}
}

// AddFlags adds the flags, in sections.
func (o *Options) AddFlags(sections *cliflag.NamedFlagSets) {
	cluster := sections.FlagSet("cluster")
	cluster.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path to a kubeconfig file. Not needed in a cluster.")
	limits := sections.FlagSet("limits")
	limits.IntVar(&o.Limits.PodsPerRequest, "max-pods-per-log", o.Limits.PodsPerRequest, "Pods of which one log request reads.")
	limits.IntVar(&o.Limits.ContainersPerRequest, "max-containers-per-log", o.Limits.ContainersPerRequest, "Containers of which one log request reads.")
	limits.IntVar(&o.Limits.Containers, "max-containers", o.Limits.Containers, "Containers of which all log requests read at once; beyond, the answer is 429, or the stream says that it leaves some out.")
	limits.IntVar(&o.Limits.StreamsPerUser, "max-streams-per-user", o.Limits.StreamsPerUser, "Log streams that one user may have open; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.Streams, "max-streams", o.Limits.Streams, "Log streams that all users may have open; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.WatchesPerUser, "max-watches-per-user", o.Limits.WatchesPerUser, "Watches that one user may have open; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.Watches, "max-watches", o.Limits.Watches, "Watches that all users may have open; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.RendersPerUser, "max-renders-per-user", o.Limits.RendersPerUser, "Renderings that one user may ask for at once; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.Renders, "max-renders", o.Limits.Renders, "Renderings that all users may ask for at once; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.TimelinesPerUser, "max-timelines-per-user", o.Limits.TimelinesPerUser, "Timelines that one user may read or watch at once; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.Timelines, "max-timelines", o.Limits.Timelines, "Timelines that all users may read or watch at once; beyond, the answer is 429.")
	limits.IntVar(&o.Limits.BufferedBytes, "max-buffered-bytes", o.Limits.BufferedBytes, "Bytes kept for a slow reader of a followed log; beyond, lines are dropped and counted in the stream.")
	limits.DurationVar(&o.Limits.IdleTime, "stream-idle-time", o.Limits.IdleTime, "How long a followed log may have no line, and a client may take nothing of any log, before the log ends.")
	limits.DurationVar(&o.Limits.TotalTime, "stream-total-time", o.Limits.TotalTime, "How long a log stream may last.")
	timeline := sections.FlagSet("timeline")
	timeline.StringVar(&o.Leader.Lease, "controller-lease", o.Leader.Lease, "Lease of the controllers, as NAMESPACE/NAME. Its holder, a pod of the namespace, has the timelines, if it runs with --debug-pipeline. Empty serves no timelines.")
	timeline.IntVar(&o.Leader.Port, "controller-port", o.Leader.Port, "Port of the controllers' metrics.")
	timeline.StringVar(&o.Leader.ServerName, "controller-server-name", o.Leader.ServerName, "Name in the certificate that the controllers serve there.")
	timeline.StringVar(&o.Leader.CAFile, "controller-ca-file", o.Leader.CAFile, "File with the CAs of that certificate.")
	timeline.StringVar(&o.Leader.TokenFile, "controller-token-file", o.Leader.TokenFile, "File with the token by which the controllers authenticate this server.")
	platform := sections.FlagSet("rendering")
	platform.StringVar((*string)(&o.Platform.Validation.SecurityProfile), "security-profile", string(o.Platform.Validation.SecurityProfile), "The controller's --security-profile: restricted, baseline or privileged.")
	platform.BoolVar(&o.Platform.RequireClass, "require-class", o.Platform.RequireClass, "The controller's flag of this name.")
	platform.StringSliceVar(&o.Platform.Facts.RouteControllerNamespaces, "route-controller-namespaces", o.Platform.Facts.RouteControllerNamespaces, "The controller's flag of this name.")
	platform.StringSliceVar(&o.Platform.Facts.MonitoringNamespaces, "monitoring-namespaces", o.Platform.Facts.MonitoringNamespaces, "The controller's flag of this name.")
	serving := sections.FlagSet("serving")
	serving.DurationVar(&o.ShutdownDelay, "shutdown-delay", o.ShutdownDelay, "How long to continue to serve after SIGTERM, until the Service sends no more requests.")
	serving.StringVar(&o.ServingName, "serving-name", o.ServingName, "Name that the serving certificate must be valid for before the server is ready: that of its Service, SERVICE.NAMESPACE.svc. Empty does not check it.")
	o.SecureServing.AddFlags(serving)
	o.Authentication.AddFlags(sections.FlagSet("authentication"))
	o.Authorization.AddFlags(sections.FlagSet("authorization"))
	logsapi.AddFlags(o.Logging, sections.FlagSet("logs"))
}

// Config turns the flags into a config.
func (o *Options) Config(scheme *runtime.Scheme, codecs serializer.CodecFactory) (*apiserver.Config, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	clients, err := o.clients()
	if err != nil {
		return nil, err
	}
	generic := apiserver.NewGenericConfig(scheme, codecs)
	generic.ShutdownDelayDuration = o.ShutdownDelay
	if err := o.SecureServing.ApplyTo(&generic.SecureServing, &generic.LoopbackClientConfig); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if err := o.Authentication.ApplyTo(&generic.Authentication, generic.SecureServing, generic.OpenAPIConfig); err != nil {
		return nil, fmt.Errorf("delegate authentication: %w", err)
	}
	if err := o.Authorization.ApplyTo(&generic.Authorization); err != nil {
		return nil, fmt.Errorf("delegate authorization: %w", err)
	}
	return &apiserver.Config{Generic: generic, Clients: clients, Limits: o.Limits, Platform: o.Platform, Leader: o.Leader, ServingName: o.ServingName}, nil
}

// complete lets the other options use --kubeconfig, and checks them.
func (o *Options) complete() error {
	if o.Authentication.RemoteKubeConfigFile == "" {
		o.Authentication.RemoteKubeConfigFile = o.Kubeconfig
	}
	if o.Authorization.RemoteKubeConfigFile == "" {
		o.Authorization.RemoteKubeConfigFile = o.Kubeconfig
	}
	errs := append(o.SecureServing.Validate(), o.Authentication.Validate()...)
	errs = append(errs, o.Authorization.Validate()...)
	if err := o.Limits.Validate(); err != nil {
		errs = append(errs, err)
	}
	if _, err := podsecurity.ParseLevel(string(o.Platform.Validation.SecurityProfile)); err != nil {
		errs = append(errs, fmt.Errorf("--security-profile: %w", err))
	}
	if o.ShutdownDelay < 0 {
		errs = append(errs, errors.New("--shutdown-delay must not be negative"))
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return err
	}
	if err := o.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("make serving certificate: %w", err)
	}
	return nil
}

func (o *Options) clients() (apiserver.Clients, error) {
	config, err := o.clientConfig()
	if err != nil {
		return apiserver.Clients{}, err
	}
	config.UserAgent = "fairlead-apiserver/" + version.Get().GitVersion
	// No limit in the client: the API server knows its load, and this server limits what its users may ask of it.
	config.QPS = -1
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return apiserver.Clients{}, fmt.Errorf("make HTTP client: %w", err)
	}
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	protobuf.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	kube, err := kubernetes.NewForConfigAndClient(protobuf, httpClient)
	if err != nil {
		return apiserver.Clients{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	// One Application that does not decode must not stop the list or watch of the others.
	custom, err := codec.NewRESTClient(config, httpClient, v1.SchemeGroupVersion, fairleadscheme.Scheme, fairleadscheme.Codecs)
	if err != nil {
		return apiserver.Clients{}, err
	}
	children, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return apiserver.Clients{}, fmt.Errorf("make client for children: %w", err)
	}
	metrics, err := metricsclient.NewForConfigAndClient(protobuf, httpClient)
	if err != nil {
		return apiserver.Clients{}, fmt.Errorf("make metrics client: %w", err)
	}
	logTransport, err := apiserver.NewLogTransport(config)
	if err != nil {
		return apiserver.Clients{}, fmt.Errorf("make transport for logs: %w", err)
	}
	logClient, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: logTransport})
	if err != nil {
		return apiserver.Clients{}, fmt.Errorf("make client for logs: %w", err)
	}
	pods, err := apiserver.NewPodConnections(config)
	if err != nil {
		return apiserver.Clients{}, err
	}
	return apiserver.Clients{Kubernetes: kube, Logs: logClient.CoreV1(), Pods: pods, Fairlead: versioned.New(custom), Dynamic: children, Metrics: metrics}, nil
}

func (o *Options) clientConfig() (*rest.Config, error) {
	if o.Kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("not in a cluster, and no --kubeconfig: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return config, nil
}
