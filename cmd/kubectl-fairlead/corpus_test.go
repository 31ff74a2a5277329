// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt/corpus"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestCorpus adopts the shapes of the corpus on a cluster, and replaces the pods. Nothing but what was announced differs then.
func TestCorpus(t *testing.T) {
	for _, platform := range []podsecurity.Level{podsecurity.LevelRestricted, podsecurity.LevelPrivileged} {
		t.Run(string(platform), func(t *testing.T) {
			p := start(t, func(options *app.Options) {
				options.SecurityProfile, options.AllowUnreviewedServiceAccounts = string(platform), true
			})
			s := p.shapes(platform)
			s.create()
			s.eventually("the pods of the shapes", s.available)
			s.each(func(c *corpus.Case) { s.adopt(c) })
			s.each(func(c *corpus.Case) {
				if c.Result != corpus.Refused {
					s.want(0, []string{"adopt", c.Name, "--rollout"}, "replaced.")
				}
			})
			s.eventually("the condition Adopted", s.adopted)
			for _, c := range s.cases {
				if c.Result != corpus.Refused {
					s.compare(c)
				}
			}
		})
	}
}

// shapes are those for one platform.
type shapes struct {
	*plugin
	kube     kubernetes.Interface
	platform podsecurity.Level
	cases    []*corpus.Case

	mu        sync.Mutex
	before    map[string]*appsv1.Deployment
	services  map[string]*corev1.Service
	announced map[string][]string
}

func (p *plugin) shapes(platform podsecurity.Level) *shapes {
	p.Helper()
	table, err := corpus.Read()
	if err != nil {
		p.Fatal(err)
	}
	s := &shapes{
		plugin: p, kube: kubernetes.NewForConfigOrDie(p.cluster.Config()), platform: platform,
		before: map[string]*appsv1.Deployment{}, services: map[string]*corev1.Service{}, announced: map[string][]string{},
	}
	for _, c := range table.Cases {
		if c.Platform == platform {
			s.cases = append(s.cases, c)
		}
	}
	return s
}

// each does something with a few cases at a time.
func (s *shapes) each(do func(c *corpus.Case)) {
	s.Helper()
	const atOnce = 4
	group := errgroup.Group{}
	group.SetLimit(atOnce)
	for _, c := range s.cases {
		group.Go(func() error { do(c); return nil })
	}
	_ = group.Wait()
}

// create creates the shapes, and what their pods need. All share a namespace, so each selects its own pods by one more label.
func (s *shapes) create() {
	s.Helper()
	client := dynamic.NewForConfigOrDie(s.cluster.Config())
	write := func(resource schema.GroupVersionResource, kind string, object corpus.Object) {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			s.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: fields}
		u.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
		var api dynamic.ResourceInterface = client.Resource(resource)
		if kind != "PersistentVolume" {
			api = client.Resource(resource).Namespace(s.namespace)
		}
		if _, err := api.Create(s.Context(), u, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			s.Fatalf("create %s %s: %v", kind, object.GetName(), err)
		}
	}
	core := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	needed := needs{}
	for _, c := range s.cases {
		needed.add(&c.Deployment.Spec.Template.Spec)
	}
	for name := range needed["ServiceAccount"] {
		write(core("serviceaccounts"), "ServiceAccount", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for name, keys := range needed["ConfigMap"] {
		write(core("configmaps"), "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: keys})
	}
	for name, keys := range needed["Secret"] {
		write(core("secrets"), "Secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: keys})
	}
	for name := range needed["PersistentVolumeClaim"] {
		volume, claim := boundVolume(s.namespace, name)
		write(core("persistentvolumes"), "PersistentVolume", volume)
		s.Cleanup(func() {
			if err := s.kube.CoreV1().PersistentVolumes().Delete(context.WithoutCancel(s.Context()), volume.Name, metav1.DeleteOptions{}); err != nil {
				s.Error(err)
			}
		})
		write(core("persistentvolumeclaims"), "PersistentVolumeClaim", claim)
	}
	own := func(labels map[string]string, c *corpus.Case) map[string]string {
		labels = maps.Clone(labels)
		labels["example.com/shape"] = c.Name
		return labels
	}
	for _, c := range s.cases {
		c.Deployment.Spec.Selector.MatchLabels = own(c.Deployment.Spec.Selector.MatchLabels, c)
		c.Deployment.Spec.Template.Labels = own(c.Deployment.Spec.Template.Labels, c)
		write(appsv1.SchemeGroupVersion.WithResource("deployments"), "Deployment", c.Deployment)
		beside := slices.Clone(c.Beside)
		if c.Service != nil {
			beside = append(beside, c.Service)
		}
		for _, object := range beside {
			switch object := object.(type) {
			case *corev1.Service:
				object.Spec.Selector = own(object.Spec.Selector, c)
				write(core("services"), "Service", object)
			case *policyv1.PodDisruptionBudget:
				object.Spec.Selector.MatchLabels = own(object.Spec.Selector.MatchLabels, c)
				write(policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), "PodDisruptionBudget", object)
			default:
				write(schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, "HorizontalPodAutoscaler", object)
			}
		}
	}
}

// available reports whether every shape has its pods, and remembers them as they are.
func (s *shapes) available() bool {
	for _, c := range s.cases {
		if c.Result == corpus.Refused {
			continue // Some cannot run on simulated nodes.
		}
		live, err := s.kube.AppsV1().Deployments(s.namespace).Get(s.Context(), c.Name, metav1.GetOptions{})
		if err != nil {
			s.Fatal(err)
		}
		if live.Status.ObservedGeneration < live.Generation || live.Status.AvailableReplicas < *live.Spec.Replicas {
			return false
		}
		s.before[c.Name] = live
		if c.Service == nil {
			continue
		}
		if s.services[c.Name], err = s.kube.CoreV1().Services(s.namespace).Get(s.Context(), c.Name, metav1.GetOptions{}); err != nil {
			s.Fatal(err)
		}
	}
	return true
}

// adopt adopts a shape, or wants that to be refused as the table says.
func (s *shapes) adopt(c *corpus.Case) {
	args := []string{"adopt", c.Name, "--security-profile=" + string(s.platform)}
	if s.platform == podsecurity.LevelRestricted {
		args = append(args, "--harden")
	}
	if c.Container != "" {
		args = append(args, "--container="+c.Container)
	}
	if c.Result != corpus.Adopted {
		r := s.want(2, args)
		for _, at := range c.At {
			if !strings.Contains(r.stderr, at) {
				s.Errorf("%s: no %s in %q", c.Name, at, r.stderr)
			}
			args = append(args, "--accept="+at)
		}
		if _, err := s.fairlead.AppsV1().Applications(s.namespace).Get(s.Context(), c.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			s.Errorf("%s: refused, but an Application was created: %v", c.Name, err)
		}
	}
	if c.Result == corpus.Refused {
		return
	}
	const held = "The pods run as before the adoption."
	var r result
	if slices.Index(s.cases, c)%2 == 0 {
		r = s.want(0, args, held)
	} else { // As after an end of an earlier run, once it had created the Application.
		r = s.want(0, append(args, "--dry-run=client"))
		r.stdout, _, _ = strings.Cut(r.stdout, "---\n")
		s.draft(c)
		s.want(0, args, "its adoption goes on", held)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(r.stdout) {
		for _, mark := range []string{"  ~ ", "  - "} {
			if change, is := strings.CutPrefix(line, mark); is {
				s.announced[c.Name] = append(s.announced[c.Name], pathIn(change))
			}
		}
	}
}

// draft creates the Application that the command writes.
func (s *shapes) draft(c *corpus.Case) {
	s.Helper()
	options := adopt.Options{Container: c.Container, Harden: s.platform == podsecurity.LevelRestricted}
	options.Scaled = slices.ContainsFunc(c.Beside, func(beside corpus.Object) bool {
		_, scales := beside.(*autoscalingv2.HorizontalPodAutoscaler)
		return scales
	})
	draft, err := adopt.Draft(s.before[c.Name], s.services[c.Name], options)
	if err != nil {
		s.Errorf("%s: %v", c.Name, err)
		return
	}
	if _, err := s.fairlead.AppsV1().Applications(s.namespace).Create(s.Context(), draft, metav1.CreateOptions{}); err != nil {
		s.Errorf("%s: %v", c.Name, err)
	}
}

// adopted reports whether every rollout is complete.
func (s *shapes) adopted() bool {
	for _, c := range s.cases {
		if c.Result == corpus.Refused {
			continue
		}
		if !meta.IsStatusConditionTrue(s.get(c.Name).Status.Conditions, v1.ConditionAdopted) {
			return false
		}
	}
	return true
}

// compare holds what runs after the rollout against what ran before, and what was announced.
func (s *shapes) compare(c *corpus.Case) {
	s.Helper()
	live, err := s.kube.AppsV1().Deployments(s.namespace).Get(s.Context(), c.Name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	before := s.before[c.Name]
	container, err := adopt.Container(before, adopt.Options{Container: c.Container})
	if err != nil {
		s.Fatal(err)
	}
	differences, err := adopt.Compare(before, container, &live.Spec.Template)
	if err != nil {
		s.Fatal(err)
	}
	differs := slices.Concat(differences.Renamed, pathsOf(differences.Changed), pathsOf(differences.Lost))
	for _, path := range differs {
		if !slices.Contains(s.announced[c.Name], path) {
			s.Errorf("%s: %s changed, but was not announced: %q", c.Name, path, s.announced[c.Name])
		}
	}
	for _, path := range s.announced[c.Name] {
		if !slices.Contains(differs, path) {
			s.Errorf("%s: the change of %s was announced, but is none", c.Name, path)
		}
	}
	if got := pathsOf(differences.Lost); !slices.Equal(got, c.At) {
		s.Errorf("%s: the pods lost %q, and %q was accepted", c.Name, got, c.At)
	}
	if diff := cmp.Diff(before.Spec.Selector, live.Spec.Selector); diff != "" {
		s.Errorf("%s: the selector changed:\n%s", c.Name, diff)
	}
	if c.Service == nil {
		return
	}
	service, err := s.kube.CoreV1().Services(s.namespace).Get(s.Context(), c.Name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	was := s.services[c.Name].Spec.DeepCopy()
	was.Selector = map[string]string{v1.LabelApplication: c.Name}
	if !reachSame(was, &service.Spec) {
		s.Errorf("%s: the Service was %+v, and is %+v", c.Name, was, service.Spec)
	}
}

// reachSame reports whether clients reach what they did. By which number or name a port leads to the pods may change, and
// further named ports of the container may have joined.
func reachSame(before, after *corev1.ServiceSpec) bool {
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, port := range before.Ports {
		at := slices.IndexFunc(after.Ports, func(other corev1.ServicePort) bool { return other.Port == port.Port && other.Protocol == port.Protocol })
		if at < 0 {
			return false
		}
		port.TargetPort, after.Ports[at].TargetPort = intstr.IntOrString{}, intstr.IntOrString{}
		if !cmp.Equal(port, after.Ports[at]) {
			return false
		}
	}
	before.Ports, after.Ports = nil, nil
	return cmp.Equal(before, after)
}

func pathsOf(changes []preview.Change) []string {
	var paths []string
	for _, change := range changes {
		paths = append(paths, change.Path)
	}
	return paths
}

// pathIn returns the path in a line about a change, or all of one about a name.
func pathIn(line string) string {
	path, _, _ := strings.Cut(line, ": ")
	return strings.TrimSpace(path)
}
