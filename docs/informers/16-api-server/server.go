// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/flushwriter"

	"fairlead.dev/fairlead/pkg/generated/openapi"
)

var (
	groupVersion = schema.GroupVersion{Group: "sessions.labs.fairlead.dev", Version: "v1"}
	resource     = schema.GroupResource{Group: groupVersion.Group, Resource: "sessions"}
)

// Session is a visit to a server. It exists in the server's memory alone, and ends with the server. It has nothing but metadata, so
// a type of Kubernetes will do, with its copies, its protobuf and its OpenAPI model. For types of your own, generators write these.
type Session = metav1.PartialObjectMetadata

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, version := range []string{groupVersion.Version, runtime.APIVersionInternal} { // With one version, nothing is converted.
		known := schema.GroupVersion{Group: groupVersion.Group, Version: version}
		scheme.AddKnownTypeWithName(known.WithKind("Session"), &Session{})
		scheme.AddKnownTypeWithName(known.WithKind("SessionList"), &metav1.PartialObjectMetadataList{})
	}
	metav1.AddToGroupVersion(scheme, groupVersion)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // Status, and the kinds of discovery
	return scheme
}

// newServer puts the resource on the generic server. host is in its certificate, which is its own CA.
func newServer(listener net.Listener, host, kubeconfig string) (_ *genericapiserver.GenericAPIServer, ca []byte, err error) {
	scheme := newScheme()
	codecs := serializer.NewCodecFactory(scheme)
	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, openapinamer.NewDefinitionNamer(scheme))
	config.LongRunningFunc = func(_ *http.Request, r *request.RequestInfo) bool { return r.Verb == "watch" || r.Subresource == "log" }

	o := options.NewRecommendedOptions("", nil)
	o.Etcd, o.Admission, o.CoreAPI, o.Features = nil, nil, nil, nil // The memory is the storage, and nothing else needs a client.
	o.SecureServing.Listener, o.SecureServing.ServerCert.CertDirectory = listener, ""
	// kube-apiserver says who a client is and what it may do. Behind the aggregation layer, its client certificate and headers say
	// who; the ConfigMap extension-apiserver-authentication says by which CA, and under which name.
	o.Authentication.RemoteKubeConfigFile, o.Authorization.RemoteKubeConfigFile = kubeconfig, kubeconfig
	if err := errors.Join(o.SecureServing.MaybeDefaultWithSelfSignedCerts(host, nil, nil), o.ApplyTo(config)); err != nil {
		return nil, nil, err
	}
	server, err := config.Complete().New("sessions", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, nil, err
	}
	sessions := newRegistry(scheme)
	group := genericapiserver.NewDefaultAPIGroupInfo(groupVersion.Group, scheme, runtime.NewParameterCodec(scheme), codecs)
	group.VersionedResourcesStorageMap[groupVersion.Version] = map[string]rest.Storage{"sessions": sessions, "sessions/log": &log{sessions}}
	ca, _ = o.SecureServing.ServerCert.GeneratedCert.CurrentCertKeyContent()
	return server, ca, server.InstallAPIGroup(&group)
}

// registry is the resource with its memory. Each method that package rest knows is a verb, which the generic server serves.
type registry struct {
	runtime.ObjectTyper
	rest.TableConvertor

	mu       sync.Mutex
	sessions map[string]*session // by namespace and name
	changes  []change            // since the start. A resourceVersion is their number. A real server forgets, and answers 410.
	changed  chan struct{}       // closed at the next change
}

func newRegistry(scheme *runtime.Scheme) *registry {
	return &registry{ObjectTyper: scheme, TableConvertor: rest.NewDefaultTableConvertor(resource), sessions: map[string]*session{}, changed: make(chan struct{})}
}

// session is a Session with its streams. Nothing changes what a Session points to, so an assignment copies it.
type session struct {
	Session
	streams sync.WaitGroup
	ending  chan struct{} // closed when the deletion begins
	over    chan struct{} // closed after the grace period, by end
	end     func()
}

// change is an event of a watch.
type change struct {
	kind watch.EventType
	Session
}

func (r *registry) New() runtime.Object     { return &Session{} }
func (r *registry) NewList() runtime.Object { return &metav1.PartialObjectMetadataList{} }
func (r *registry) NamespaceScoped() bool   { return true }
func (r *registry) GetSingularName() string { return "session" }
func (r *registry) Destroy()                {}

// Create validates in this process: kube-apiserver passes the bytes on and knows no schema.
func (r *registry) Create(ctx context.Context, object runtime.Object, _ rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	given, ok := object.(*Session)
	if !ok {
		return nil, apierrors.NewBadRequest("this is no Session")
	}
	rest.FillObjectMetaSystemFields(given)
	given.Name = cmp.Or(given.Name, names.SimpleNameGenerator.GenerateName(given.GenerateName))
	errs := validation.ValidateObjectMeta(&given.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if given.Labels["user"] == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "labels").Key("user"), "say whose session it is"))
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(groupVersion.WithKind("Session").GroupKind(), given.Name, errs)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.find(ctx, given.Name); err == nil {
		return nil, apierrors.NewAlreadyExists(resource, given.Name)
	}
	if len(options.DryRun) > 0 {
		return given, nil
	}
	s := &session{Session: *given, ending: make(chan struct{}), over: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.over) })
	r.sessions[s.Namespace+"/"+s.Name] = s
	return r.record(watch.Added, s), nil
}

// record gives a session the next version, and returns a copy: the encoder sets its kind.
func (r *registry) record(kind watch.EventType, s *session) *Session {
	s.ResourceVersion = strconv.Itoa(len(r.changes) + 1)
	r.changes = append(r.changes, change{kind, s.Session})
	close(r.changed)
	r.changed = make(chan struct{})
	return new(s.Session)
}

func (r *registry) find(ctx context.Context, name string) (*session, error) {
	if s := r.sessions[request.NamespaceValue(ctx)+"/"+name]; s != nil {
		return s, nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

// Get returns one session.
func (r *registry) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return new(s.Session), nil
}

// List returns the sessions of a namespace, or of all.
func (r *registry) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	list, matches := &metav1.PartialObjectMetadataList{Items: []Session{}}, selector(ctx, options)
	sessions, version, _, err := r.since("")
	for _, s := range sessions {
		if matches(s.Session) {
			list.Items = append(list.Items, s.Session)
		}
	}
	list.ResourceVersion = version
	return list, err
}

func selector(ctx context.Context, options *metainternalversion.ListOptions) func(Session) bool {
	namespace := request.NamespaceValue(ctx)
	return func(s Session) bool {
		return (namespace == "" || namespace == s.Namespace) &&
			(options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(s.Labels))) &&
			(options.FieldSelector == nil || options.FieldSelector.Matches(fields.Set{"metadata.name": s.Name, "metadata.namespace": s.Namespace}))
	}
}

// since returns the changes after a version, what the version is then, and what is closed at the next change. After no version at
// all, every session is new.
func (r *registry) since(version string) (changes []change, now string, changed <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if version == "" {
		for _, name := range slices.Sorted(maps.Keys(r.sessions)) {
			changes = append(changes, change{watch.Added, r.sessions[name].Session})
		}
	} else if after, err := strconv.ParseUint(version, 10, 31); err == nil && int(after) <= len(r.changes) {
		changes = r.changes[after:]
	} else {
		return nil, "", nil, apierrors.NewResourceExpired("resourceVersion " + version + " is not of this server; list again")
	}
	return changes, strconv.Itoa(len(r.changes)), r.changed, nil
}

// Watch sends the changes after a resourceVersion. Without one, it begins with the sessions that there are, and with the bookmark
// after them for which an informer waits. The context ends with the request.
func (r *registry) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	version, initial := options.ResourceVersion, options.SendInitialEvents != nil && *options.SendInitialEvents
	if initial {
		version = ""
	}
	changes, version, changed, err := r.since(version)
	if err != nil {
		return nil, err
	}
	if initial && options.AllowWatchBookmarks {
		changes = append(changes, change{watch.Bookmark, Session{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}})
	}
	events, matches := make(chan watch.Event), selector(ctx, options)
	go func() {
		defer close(events)
		for ; err == nil; changes, version, changed, err = r.since(version) {
			for _, c := range changes {
				if c.kind != watch.Bookmark && !matches(c.Session) {
					continue
				}
				select {
				case events <- watch.Event{Type: c.kind, Object: new(c.Session)}:
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return watch.NewProxyWatcher(events), nil
}

// Delete is graceful: a session gets a deletionTimestamp, its streams end, and then it goes. BeforeDelete has the rules, which are
// those of pods. It checks the preconditions, and lets a second request shorten the grace period.
func (r *registry) Delete(ctx context.Context, name string, _ rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.find(ctx, name)
	if err != nil {
		return nil, false, err
	}
	deleted := new(s.Session)
	_, pending, err := rest.BeforeDelete(r, ctx, deleted, options)
	if err != nil || pending || len(options.DryRun) > 0 {
		return deleted, false, err
	}
	if s.DeletionTimestamp == nil {
		close(s.ending)
		go r.remove(s)
	}
	s.Session = *deleted
	time.AfterFunc(time.Until(s.DeletionTimestamp.Time), s.end)
	return r.record(watch.Modified, s), false, nil
}

// CheckGracefulDelete gives streams 30 seconds to end, unless the request says how many.
func (r *registry) CheckGracefulDelete(_ context.Context, _ runtime.Object, options *metav1.DeleteOptions) bool {
	options.GracePeriodSeconds = cmp.Or(options.GracePeriodSeconds, new(int64(30)))
	return true
}

// remove removes a session after its last stream.
func (r *registry) remove(s *session) {
	s.streams.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, s.Namespace+"/"+s.Name)
	r.record(watch.Deleted, s)
}

// log is the subresource sessions/log. kube-apiserver leaves requests of that name open, and ends others after a minute.
type log struct{ sessions *registry }

func (l *log) New() runtime.Object                               { return &Session{} }
func (l *log) Destroy()                                          {}
func (l *log) ConnectMethods() []string                          { return []string{http.MethodGet} }
func (l *log) NewConnectOptions() (runtime.Object, bool, string) { return nil, false, "" }

// Connect opens a stream. It says when the deletion begins, and ends with its client, or after the grace period.
func (l *log) Connect(ctx context.Context, name string, _ runtime.Object, _ rest.Responder) (http.Handler, error) {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	s, err := l.sessions.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if s.DeletionTimestamp != nil {
		return nil, apierrors.NewConflict(resource, name, errors.New("the session is ending"))
	}
	s.streams.Add(1)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer s.streams.Done()
		out := flushwriter.Wrap(w)
		fmt.Fprintln(out, "welcome")
		select {
		case <-s.ending:
			fmt.Fprintln(out, "the session ends, please hang up")
		case <-ctx.Done():
			return
		}
		select {
		case <-s.over:
			fmt.Fprintln(out, "goodbye")
		case <-ctx.Done():
		}
	}), nil
}
