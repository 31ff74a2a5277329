// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// bases are valid specs, which together set every field of the API.
var bases = sync.OnceValue(func() []v1.ApplicationSpec {
	var specs []v1.ApplicationSpec
	for _, text := range []string{everything, otherwise} {
		var spec v1.ApplicationSpec
		if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
			panic(err)
		}
		specs = append(specs, spec)
	}
	return specs
})

// mutator changes specs at random: most of what it makes is one mistake away from valid, which is
// where rules are missed. Its choices come from pick, which returns a number below n.
type mutator struct {
	pick func(n int) int
}

// mutated returns a copy of the spec with one to three changes. ok is false if what came out is
// not a spec any more.
func (m mutator) mutated(spec v1.ApplicationSpec) (changed v1.ApplicationSpec, ok bool) {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return changed, false
	}
	var tree any
	if json.Unmarshal(encoded, &tree) != nil {
		return changed, false
	}
	for range 1 + m.pick(3) {
		tree = m.change(tree, reflect.TypeFor[v1.ApplicationSpec]())
	}
	if encoded, err = json.Marshal(tree); err != nil {
		return changed, false
	}
	return changed, json.Unmarshal(encoded, &changed) == nil
}

// change goes down at random and changes what it meets there.
func (m mutator) change(node any, t reflect.Type) any {
	t = indirect(t)
	switch node := node.(type) {
	case map[string]any:
		if scalar(t) {
			return m.generate(t, 2)
		}
		keys := sortedKeys(node)
		switch choice := m.pick(12); {
		case choice == 0 && len(keys) > 0:
			delete(node, keys[m.pick(len(keys))])
		case choice == 1 || len(keys) == 0:
			m.add(node, t, 2)
		default:
			key := keys[m.pick(len(keys))]
			if t.Kind() == reflect.Map && m.pick(3) == 0 {
				value := node[key]
				delete(node, key)
				node[m.text()] = value
			} else if child := childType(t, key); child != nil {
				node[key] = m.change(node[key], child)
			}
		}
		return node
	case []any:
		if t.Kind() != reflect.Slice {
			return node
		}
		switch choice := m.pick(10); {
		case choice == 0 && len(node) > 0:
			i := m.pick(len(node))
			return slices.Delete(node, i, i+1)
		case choice == 1 && len(node) > 0:
			return append(node, node[m.pick(len(node))])
		case choice == 2 || len(node) == 0:
			return append(node, m.generate(t.Elem(), 2))
		}
		i := m.pick(len(node))
		node[i] = m.change(node[i], t.Elem())
		return node
	}
	return m.generate(t, 2)
}

// add sets a field, or an entry, of an object.
func (m mutator) add(node map[string]any, t reflect.Type, depth int) {
	switch t.Kind() {
	case reflect.Map:
		node[m.text()] = m.generate(t.Elem(), depth)
	case reflect.Struct:
		if fields := jsonFields(t); len(fields) > 0 {
			name := oneElement(m, sortedKeys(fields))
			node[name] = m.generate(fields[name], depth)
		}
	}
}

// generate makes a value of the type, mostly with one field.
func (m mutator) generate(t reflect.Type, depth int) any {
	t = indirect(t)
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		return oneElement(m, []string{"0", "1", "2", "-1", "100m", "1500m", "0.5m", "64Mi", "1Gi", "1e3", "3"})
	case t == reflect.TypeFor[intstr.IntOrString]():
		if m.pick(2) == 0 {
			return m.number()
		}
		return oneElement(m, []string{"0%", "1%", "25%", "99%", "100%", "101%", "%", "99999999999%", "http", "dns", "dns-tcp", "8080", "", "admin"})
	}
	switch t.Kind() {
	case reflect.String:
		return m.text()
	case reflect.Bool:
		return m.pick(2) == 0
	case reflect.Int32, reflect.Int64:
		return m.number()
	case reflect.Slice:
		if depth == 0 {
			return []any{}
		}
		return []any{m.generate(t.Elem(), depth-1)}
	case reflect.Map, reflect.Struct:
		node := map[string]any{}
		for range m.pick(3) {
			if depth > 0 {
				m.add(node, t, depth-1)
			}
		}
		return node
	}
	return nil
}

func (m mutator) number() int {
	return oneElement(m, []int{-1, 0, 1, 2, 3, 5, 30, 79, 80, 100, 101, 511, 512, 600, 1000, 1800, 1801, 3600, 3601, 8080, 10000, 10001, 65535, 65536, 86400, 86401, 2147483647})
}

// text is a word that means something somewhere, or nothing anywhere.
func (m mutator) text() string {
	words := []string{
		"", " ", "a", "web", "log", "proxy", "migrate", "http", "admin", "dns", "A_B", "a.b", "a/b", "a--b", "-a", "0", "1", "é", "x y", "x=y", "a:b",
		"/", "/a", "/a/", "/a/../b", "/a//b", "//", "/tmp", "/etc/web", "/cache", "..", "../a", "..a", "a/../b", "./a", "/%2f", "/a{b}", "/a;b", "\x00", "\n",
		"example.com", "*.example.com", "*", "10.0.0.1", "10.0.0.0/8", "10.0.0.1/8", "::/0", "010.0.0.0/8", "EXAMPLE.com", "example.com/a", "kubernetes.io/a",
		"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-x", "pods", "requests.cpu", "limits.cpu", "example.com/gpu", "requests.example.com/gpu",
		"metadata.name", "metadata.labels", "metadata.labels['a']", "metadata.annotations['a b']", "spec.nodeName", "status.podIP",
		"Always", "Never", "IfNotPresent", "OnFailure", "TCP", "UDP", "SCTP", "HTTP", "HTTPS", "HTTP1", "HTTP2", "TLS", "Unconfined", "Localhost", "RuntimeDefault",
		"ALL", "SYS_ADMIN", "CAP_SYS_ADMIN", "NET_BIND_SERVICE", "Unmasked", "Default", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal",
		"NoSchedule", "NoExecute", "PreferNoSchedule", "DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore", "Utilization", "Value", "AverageValue",
		"Resource", "Pods", "Object", "External", "ContainerResource", "Percent", "Max", "Min", "Disabled", "Auto", "Custom", "RollingUpdate", "Recreate",
		"Prefix", "Exact", "ImplementationSpecific", "Ingress", "ClusterIP", "NodePort", "LoadBalancer", "None", "ClientIP", "Memory", "HugePages", "HugePages-2Mi",
		"SIGTERM", "NotRequired", "RestartContainer", "File", "FallbackToLogsOnError", "Bidirectional", "HostToContainer", "Enabled", "IfPossible", "noexec",
		"pod-template-hash", "apps.fairlead.dev/application", "app.kubernetes.io/name", "config", "tmp", v1.VolumeName("/cache"), v1.VolumeName("/etc/tls"),
		"nginx.ingress.kubernetes.io/configuration-snippet", "kubernetes.io/ingress.class", "controller.kubernetes.io/pod-deletion-cost",
		"container.apparmor.security.beta.kubernetes.io/web", "seccomp.security.alpha.kubernetes.io/pod", "unconfined", "runtime/default",
		"https://example.com/web", "nginx:latest", "nginx@sha256:12", "NGINX", "ED25519", "kernel.msgmax", "net.ipv4.tcp_syncookies", "+05",
		strings.Repeat("a", 64), strings.Repeat("a.", 127) + "a", strings.Repeat("a", 254),
	}
	return oneElement(m, words)
}

func oneElement[T any](m mutator, elements []T) T { return elements[m.pick(len(elements))] }

// scalar tells the structs that are written as text.
func scalar(t reflect.Type) bool {
	return t == reflect.TypeFor[resource.Quantity]() || t == reflect.TypeFor[intstr.IntOrString]()
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// childType is the type of a field, or of an entry; nil if there is none.
func childType(t reflect.Type, key string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		return jsonFields(t)[key]
	}
	return nil
}

// jsonFields are the fields of a struct by their JSON names, with those of embedded structs.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			fields[name] = field.Type
		case field.Anonymous && indirect(field.Type).Kind() == reflect.Struct:
			maps.Copy(fields, jsonFields(indirect(field.Type)))
		}
	}
	return fields
}
