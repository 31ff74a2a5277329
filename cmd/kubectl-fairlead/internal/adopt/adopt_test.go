// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/render"
)

const chart = `
metadata: {name: web, namespace: shop, uid: d, resourceVersion: "7", labels: {app.kubernetes.io/managed-by: by-hand, chart: shop-1}, annotations: {note: theirs}}
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: shop}, annotations: {scrape: "true"}}
    spec:
      serviceAccountName: shop
      volumes: [{name: data, persistentVolumeClaim: {claimName: shop}}, {name: tmp, emptyDir: {}}]
      initContainers: [{name: setup, image: "setup:1", volumeMounts: [{name: data, mountPath: /d}]}]
      containers:
      - name: shop
        image: shop:1
        ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}, {containerPort: 9999}]
        volumeMounts: [{name: data, mountPath: /data}, {name: tmp, mountPath: /tmp}]
        readinessProbe: {httpGet: {path: /ready, port: http}}
      - {name: proxy, image: "proxy:1", volumeMounts: [{name: data, mountPath: /p}]}
`

const exposed = `
metadata: {name: web, namespace: shop, uid: s, resourceVersion: "8"}
spec: {type: ClusterIP, sessionAffinity: None, selector: {app: shop}, ports: [{name: web, port: 80, targetPort: http}]}
`

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestDraft(t *testing.T) {
	got, err := Draft(parse[appsv1.Deployment](t, chart), parse[corev1.Service](t, exposed), Options{Container: "shop", Harden: true})
	if err != nil {
		t.Fatal(err)
	}
	volume := v1.VolumeName("/data")
	want := parse[v1.Application](t, `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web, namespace: shop}
spec:
  image: shop:1
  replicas: 3
  adoptionPolicy: Consented
  reconcilePolicy: Observe
  deletionPolicy: Orphan
  paused: true
  disruptionBudget: {mode: Disabled}
  minReadySeconds: 0
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  serviceAccount: {name: shop, automountToken: true}
  service: {type: ClusterIP, sessionAffinity: None}
  ports:
  - {name: http, containerPort: 8080, servicePort: 80, servicePortName: web}
  - {name: metrics, containerPort: 9090}
  - {name: port-9999, containerPort: 9999}
  mounts:
  - {mountPath: /data, readOnly: false, persistentVolumeClaim: {claimName: shop}}
  readinessProbe: {httpGet: {path: /ready, port: http}}
  initContainers: [{name: setup, image: "setup:1", volumeMounts: [{name: `+volume+`, mountPath: /d}]}]
  sidecars: [{name: proxy, image: "proxy:1", volumeMounts: [{name: `+volume+`, mountPath: /p}]}]
  podMetadata: {labels: {app: shop}, annotations: {scrape: "true"}}
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the Application (-want +got):\n%s", diff)
	}
	if errs := validation.ValidateApplication(got, validation.Options{ForeignServiceAccounts: true}); len(errs) > 0 {
		t.Errorf("it is not valid: %v", errs)
	}
}

// A port without a name gets one, unless the Application cannot have the port. The names of the others lead where they did.
func TestDraftNamesPorts(t *testing.T) {
	const has, single = "ports: [{name: web, port: 80, targetPort: http}]", "ports: [{port: 80, targetPort: http}]"
	const given = "{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}, {containerPort: 9999}"
	for _, test := range []struct{ container, service, want string }{
		{given, has, "http:8080 metrics:9090 port-9999:9999"},
		{given, "", "http:8080 metrics:9090 port-9999:9999"},
		{"{containerPort: 53}, {containerPort: 53, protocol: UDP}", "", "port-53:53 port-53-udp:53"},
		{"{containerPort: 53}, {name: port-53, containerPort: 54}", "", "port-53:54 port-53-tcp:53"},
		{"{containerPort: 8080}", "ports: [{name: web, port: 80, targetPort: 8080}]", "web:8080"},
		{"{containerPort: 8080}", "ports: [{port: 80, targetPort: 8080}]", "port-8080:8080"},
		{"{containerPort: 8080}", "ports: [{name: 80-8080, port: 80, targetPort: 8080}]", "port-8080:8080"}, // kubectl create service names it so.
		{"", "ports: [{name: a--b, port: 53}, {name: a-name-of-16-has, protocol: UDP, port: 53}]", "port-53:53 port-53-udp:53"},
		{"{containerPort: 9}", "ports: [{name: 80-8, port: 80, targetPort: 8}, {name: port-8, port: 81, targetPort: 9}]", "port-8:8 port-9:9"},
		{"{containerPort: 9090}, {name: http, containerPort: 8080}", "ports: [{name: http, port: 80, targetPort: 9090}]", "port-9090:9090 http:8080"},
		{"{name: http, containerPort: 8080}, {containerPort: 9999}", single, "http:8080"},
		{"{name: http, containerPort: 8080}, {containerPort: 80}", has, "http:8080"},
		{"{name: http, containerPort: 8080}, {containerPort: 9999}", strings.Replace(has, "80,", "80, nodePort: 30080,", 1), "http:8080"},
		{"{name: http, containerPort: 8080}, {containerPort: 7}", has, "http:8080"},
	} {
		deployment := parse[appsv1.Deployment](t, strings.Replace(strings.Replace(chart, given, test.container, 1), `image: "proxy:1"`, `image: "proxy:1", ports: [{containerPort: 7}]`, 1))
		deployment.Spec.Template.Spec.Containers[0].ReadinessProbe = nil
		var service *corev1.Service
		if test.service != "" {
			service = parse[corev1.Service](t, strings.Replace(exposed, has, test.service, 1))
			if strings.Contains(test.service, "nodePort") {
				service.Spec.Type = corev1.ServiceTypeNodePort
			}
		}
		application, err := Draft(deployment, service, Options{Container: "shop", Harden: true})
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		var got []string
		for _, port := range application.Spec.Ports {
			got = append(got, fmt.Sprintf("%s:%d", port.Name, port.ContainerPort))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%+v: the ports are %s", test, got)
		}
		if errs := validation.ValidateApplication(application, validation.Options{ForeignServiceAccounts: true}); len(errs) > 0 {
			t.Errorf("%+v: it is not valid: %v", test, errs)
		}
		for i := 0; service != nil && i < len(service.Spec.Ports); i++ {
			if name := render.ServicePortName(application, application.Spec.Ports[i]); name != service.Spec.Ports[i].Name {
				t.Errorf("%+v: a port of the Service is named %q", test, name)
			}
		}
	}
}

// If each mount of an emptyDir has a directory of its own, it becomes one for each mount of the application's container. If
// one mount sees what another one wrote, it is refused.
func TestDraftDividesEmptyDir(t *testing.T) {
	const tmp, two = "{name: tmp, mountPath: /tmp}", "{name: tmp, mountPath: /tmp, subPath: tmp}, {name: tmp, mountPath: /run, subPath: run/web}"
	for added, divided := range map[string]bool{
		"": true, "{name: tmp, mountPath: /r, subPath: run/web}": true, "{name: tmp, mountPath: /r, subPath: other}": true,
		"{name: tmp, mountPath: /r}": false, "{name: tmp, mountPath: /r, subPath: run}": false, "{name: tmp, mountPath: /r, subPath: run/web/x}": false,
	} {
		text := strings.Replace(strings.Replace(chart, tmp, two, 1), "{name: data, mountPath: /p}", added, 1)
		got, err := Draft(parse[appsv1.Deployment](t, text), nil, Options{Container: "shop"})
		if (err == nil) != divided {
			t.Errorf("%q: %v", added, err)
			continue
		}
		if !divided || added == "" {
			continue
		}
		want := v1.VolumeName("/tmp")
		if strings.Contains(added, "run/web") {
			want = v1.VolumeName("/run")
		}
		if name := got.Spec.Sidecars[0].VolumeMounts[0].Name; name != want || len(got.Spec.Mounts) != 3 {
			t.Errorf("%q: the sidecar mounts %s, want %s of %d", added, name, want, len(got.Spec.Mounts))
		}
	}
}

// kubectl goes on to find the application's container, and another one.
func TestDraftOfDefaultContainer(t *testing.T) {
	for former, want := range map[string]string{"shop": "web", "proxy": "proxy"} {
		deployment := parse[appsv1.Deployment](t, chart)
		deployment.Spec.Template.Annotations[DefaultContainer] = former
		got, err := Draft(deployment, nil, Options{Container: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		if now := got.Spec.PodMetadata.Annotations[DefaultContainer]; now != want {
			t.Errorf("the default container %s becomes %s, want %s", former, now, want)
		}
		if deployment.Spec.Template.Annotations[DefaultContainer] != former {
			t.Error("the live Deployment is changed")
		}
	}
}

// A reference to the resources of a container that does not exist would keep its container from starting.
func TestDraftOfResourceReferences(t *testing.T) {
	variables := func(of string) string {
		return `env: [{name: LIMIT, valueFrom: {resourceFieldRef: {containerName: ` + of + `, resource: limits.cpu}}}]`
	}
	text := strings.NewReplacer(
		"image: shop:1", "image: shop:1\n        "+variables("shop"), `image: "proxy:1"`, `image: "proxy:1", `+variables("shop"), `image: "setup:1"`, `image: "setup:1", `+variables("proxy"),
		"persistentVolumeClaim: {claimName: shop}", "projected: {sources: [{downwardAPI: {items: [{path: cpu, resourceFieldRef: {containerName: shop, resource: limits.cpu}}]}}]}",
	).Replace(chart)
	deployment := parse[appsv1.Deployment](t, text)
	got, err := Draft(deployment, nil, Options{Container: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	name := func(variables []corev1.EnvVar) string { return variables[0].ValueFrom.ResourceFieldRef.ContainerName }
	names := []string{
		name(got.Spec.Env), name(got.Spec.Sidecars[0].Env), got.Spec.Mounts[0].Projected.Sources[0].DownwardAPI.Items[0].ResourceFieldRef.ContainerName,
		name(got.Spec.InitContainers[0].Env), name(deployment.Spec.Template.Spec.Containers[0].Env),
	}
	if diff := cmp.Diff([]string{"web", "web", "web", "proxy", "shop"}, names); diff != "" {
		t.Errorf("the references (-want +got):\n%s", diff)
	}
}

func TestMentioning(t *testing.T) {
	got := Mentioning(map[string]string{
		"ad.datadoghq.com/server.logs": "[]", "fluentbit.io/parser-server": "nginx", "co.elastic.logs.server/enabled": "true",
		"example.com/inject": "proxy,server", "example.com/rules": `[{"container":"server"}]`, DefaultContainer: "server",
		"example.com/servers": "1", "example.com/observer": "observer", "prometheus.io/path": "/server/metrics", "example.com/host": "my-server",
	}, "server")
	want := []string{
		"ad.datadoghq.com/server.logs", "co.elastic.logs.server/enabled", "example.com/inject", "example.com/rules", "fluentbit.io/parser-server", DefaultContainer,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the annotations (-want +got):\n%s", diff)
	}
}

// What a former Application left on the pods, the new one sets itself.
func TestDraftOfEjected(t *testing.T) {
	deployment := parse[appsv1.Deployment](t, chart)
	deployment.Spec.Template.Labels[v1.LabelApplication] = "web"
	got, err := Draft(deployment, nil, Options{Container: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"app": "shop"}; !maps.Equal(got.Spec.PodMetadata.Labels, want) {
		t.Errorf("labels %v, want %v", got.Spec.PodMetadata.Labels, want)
	}
}

// TestDraftLeavesTemporaryVolume: the draft has no mount for the volume that every Application has at /tmp; any other one it has.
func TestDraftLeavesTemporaryVolume(t *testing.T) {
	const volume, mount, other = "{name: tmp, emptyDir: {}}", "{name: tmp, mountPath: /tmp}", "{name: data, mountPath: /p}"
	for _, test := range []struct {
		old, new, sidecar string
		left              bool
	}{
		{other, other, v1.VolumeName("/data"), true},
		{other, "{name: tmp, mountPath: /p}", v1.TemporaryVolumeName, true},
		{volume, "{name: tmp, emptyDir: {medium: Memory}}", v1.VolumeName("/data"), false},
		{volume, "{name: tmp, emptyDir: {sizeLimit: 1Gi}}", v1.VolumeName("/data"), false},
		{mount, "{name: tmp, mountPath: /tmp, subPath: a}", v1.VolumeName("/data"), false},
		{mount, "{name: tmp, mountPath: /tmp, readOnly: true}", v1.VolumeName("/data"), false},
		{mount, "{name: tmp, mountPath: /cache}", v1.VolumeName("/data"), false},
	} {
		got, err := Draft(parse[appsv1.Deployment](t, strings.Replace(chart, test.old, test.new, 1)), nil, Options{Container: "shop", Harden: true})
		if err != nil {
			t.Errorf("%s: %v", test.new, err)
			continue
		}
		if left := len(got.Spec.Mounts) == 1; left != test.left || got.Spec.Sidecars[0].VolumeMounts[0].Name != test.sidecar {
			t.Errorf("%s: the mounts are %+v, and the sidecar's %+v", test.new, got.Spec.Mounts, got.Spec.Sidecars[0].VolumeMounts)
		}
		if errs := validation.ValidateApplication(got, validation.Options{ForeignServiceAccounts: true}); len(errs) > 0 {
			t.Errorf("%s: %v", test.new, errs)
		}
	}
}

// Each case changes one thing about objects for which there is an Application.
func TestDraftRefuses(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"serviceAccountName: shop", "hostNetwork: true", ".spec.template.spec.hostNetwork"},
		{"serviceAccountName: shop", "hostPID: true", ".spec.template.spec.hostPID"},
		{"serviceAccountName: shop", "hostAliases: [{ip: 10.0.0.1}]", ".spec.template.spec.hostAliases"},
		{"serviceAccountName: shop", "dnsPolicy: None", ".spec.template.spec.dnsPolicy"},
		{"serviceAccountName: shop", "runtimeClassName: kata", ".spec.template.spec.runtimeClassName"},
		{"serviceAccountName: shop", "schedulerName: mine", ".spec.template.spec.schedulerName"},
		{"serviceAccountName: shop", "readinessGates: [{conditionType: x}]", ".spec.template.spec.readinessGates"},
		{"persistentVolumeClaim: {claimName: shop}", "hostPath: {path: /}", ".spec.template.spec.volumes[data]"},
		{"persistentVolumeClaim: {claimName: shop}", "nfs: {server: a, path: /}", ".spec.template.spec.volumes[data]"},
		{"mountPath: /data}", "mountPath: /data, subPathExpr: a}", ".spec.template.spec.containers[shop].volumeMounts[/data]"},
		{"{name: data, mountPath: /data}", "{name: tmp, mountPath: /data}", ".spec.template.spec.containers[shop].volumeMounts[/tmp]"},
		{"{name: data, mountPath: /data}, ", "", ".spec.template.spec.containers[proxy].volumeMounts[/p]"},
		{"{containerPort: 9999}", "{containerPort: 9999, hostPort: 9999}", ".spec.template.spec.containers[shop].ports[9999].hostPort"},
		{"targetPort: http", "targetPort: other", "Service web, port 80"},
		{"type: ClusterIP", "type: LoadBalancer", ".spec.template.spec.containers[shop].ports[metrics]"},
		{"- name: shop", "- name: main", `there is no container "shop": choose the application's with --container: main, proxy`},
	} {
		deployment, service := strings.Replace(chart, test.old, test.new, 1), strings.Replace(exposed, test.old, test.new, 1)
		if deployment == chart && service == exposed {
			t.Errorf("%s is in neither object", test.old)
		}
		_, err := Draft(parse[appsv1.Deployment](t, deployment), parse[corev1.Service](t, service), Options{Container: "shop"})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.new, err, test.want)
		}
	}
}

// TestDraftRefusesAtOnce: a user learns of all fields, and corrects them in one go.
func TestDraftRefusesAtOnce(t *testing.T) {
	deployment := strings.NewReplacer("serviceAccountName: shop", "hostPID: true\n      dnsPolicy: None",
		"persistentVolumeClaim: {claimName: shop}", "hostPath: {path: /}", "{containerPort: 9999}", "{containerPort: 9999, hostPort: 9999}").Replace(chart)
	_, err := Draft(parse[appsv1.Deployment](t, deployment), parse[corev1.Service](t, exposed), Options{Container: "shop"})
	const want = ".spec.template.spec.hostPID: an Application has no such field; .spec.template.spec.dnsPolicy: an Application has no such field; " +
		".spec.template.spec.volumes[data]: an Application mounts Secrets, ConfigMaps, emptyDirs, PersistentVolumeClaims and projected volumes only; " +
		".spec.template.spec.containers[shop].ports[9999].hostPort: an Application has no such field"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Without --harden the pods keep what Kubernetes gives to pods that ask for nothing.
func TestDraftIsFaithful(t *testing.T) {
	got, err := Draft(parse[appsv1.Deployment](t, chart), nil, Options{Container: "shop", Scaled: true})
	if err != nil {
		t.Fatal(err)
	}
	pod, container := got.Spec.PodSecurityContext, got.Spec.SecurityContext
	if *pod.RunAsNonRoot || pod.SeccompProfile.Type != corev1.SeccompProfileTypeUnconfined || *container.ReadOnlyRootFilesystem || !*container.AllowPrivilegeEscalation || len(container.Capabilities.Add) == 0 {
		t.Errorf("the security contexts are %+v and %+v", pod, container)
	}
	if got.Spec.Replicas != nil || got.Spec.Service != nil {
		t.Errorf("replicas %v, service %v", got.Spec.Replicas, got.Spec.Service)
	}
}

// The backup restores the Deployment, and leaves what others did meanwhile.
func TestRestore(t *testing.T) {
	before := parse[appsv1.Deployment](t, chart)
	secret, err := Backup(Saved{Deployment: before, Service: parse[corev1.Service](t, exposed), Release: &Release{Name: "web"}})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := Read(secret)
	if err != nil || saved.Service == nil || saved.Release == nil {
		t.Fatalf("%v, Service %v", err, saved.Service)
	}
	live := before.DeepCopy()
	live.Spec.Replicas = new(int32(5))
	live.Spec.Template.Spec.Containers = live.Spec.Template.Spec.Containers[:1]
	live.Spec.Paused = true
	live.Labels[v1.LabelManagedBy], live.Labels[v1.LabelApplication], live.Labels["new"] = v1.ManagedBy, "web", "label"
	live.Annotations[v1.AnnotationRenderedHash], live.Annotations["deployment.kubernetes.io/revision"] = "h", "4"
	want := before.DeepCopy()
	want.Spec.Replicas = new(int32(5))
	want.Labels["new"] = "label"
	want.Annotations["deployment.kubernetes.io/revision"] = "4"
	if diff := cmp.Diff(want, Restore(live, saved.Deployment)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// A consent that is taken back leaves the metadata as it was.
func TestConsentAndWithdraw(t *testing.T) {
	before := parse[appsv1.Deployment](t, chart)
	before.Annotations[corev1.LastAppliedConfigAnnotation] = "{}"
	live := before.DeepCopy()
	merge := func(patch []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Metadata struct{ Labels, Annotations map[string]*string }
		}
		if err := json.Unmarshal(patch, &body); err != nil {
			t.Fatal(err)
		}
		for _, of := range []struct {
			changes map[string]*string
			now     map[string]string
		}{{body.Metadata.Labels, live.Labels}, {body.Metadata.Annotations, live.Annotations}} {
			for key, value := range of.changes {
				if value == nil {
					delete(of.now, key)
				} else {
					of.now[key] = *value
				}
			}
		}
	}
	merge(Consent(live, "uid", "digest"))
	if live.Annotations[v1.AnnotationAdoptableBy] != "uid" || live.Labels[v1.LabelApplication] != "web" || live.Annotations[corev1.LastAppliedConfigAnnotation] != "" {
		t.Errorf("after the consent: %v %v", live.Labels, live.Annotations)
	}
	merge(Withdraw(live, before))
	if diff := cmp.Diff(before, live); diff != "" {
		t.Errorf("after its end (-before +after):\n%s", diff)
	}
}
