// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// refusal is an Application that the CRD refuses.
type refusal struct {
	name string
	spec string // beside the image, in YAML's flow style
	// field and message are those of the refusal. More may be refused for other reasons.
	field, message string
}

const (
	oneProbe     = "exactly one of exec, httpGet, tcpSocket, grpc must be set"
	onePeer      = "exactly one of application, ipBlock, or podSelector and/or namespaceSelector must be set"
	oneMount     = "exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected must be set"
	tooManyPeers = "the rules have 320 peers and ports together, more than 256: use labels, or larger blocks of addresses"
	port         = "ports: [{name: http, containerPort: 80}], "
)

// rules are the CEL rules of the spec; TestRulesOfTheCRD makes sure that none is missing.
var rules = []refusal{
	{"replicas and autoscaling", "replicas: 1, autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 50}", "spec", "replicas 1 and autoscaling, with maxReplicas 2, exclude each other: remove replicas to scale automatically, or autoscaling for a fixed number"},
	{"service without ports", "service: {}", "spec", "service needs at least one entry in ports: add a port, or remove service"},
	{"routes without ports", "routes: [{name: a, hostnames: [a.example.com]}]", "spec", "routes need at least one entry in ports: add a port, or remove routes"},
	{"monitoring without ports", "monitoring: {}", "spec", "monitoring needs at least one entry in ports: add a port, or remove monitoring"},
	{"more than the most", "autoscaling: {minReplicas: 3, maxReplicas: 2, targetCPUUtilizationPercentage: 50}", "spec.autoscaling", "minReplicas 3 is more than maxReplicas 2: lower minReplicas, or raise maxReplicas"},
	{"default minimum above the most", "autoscaling: {maxReplicas: 0, targetCPUUtilizationPercentage: 50}", "spec.autoscaling", "minReplicas 1, the default, is more than maxReplicas 0: lower minReplicas, or raise maxReplicas"},
	{"no metric", "autoscaling: {maxReplicas: 2}", "spec.autoscaling", "at least one of targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, metrics must be set to scale between minReplicas 1, the default, and maxReplicas 2"},
	{"custom budget with nothing", "disruptionBudget: {mode: Custom}", "spec.disruptionBudget", "mode Custom needs minAvailable or maxUnavailable: set one of them, or another mode"},
	{"custom budget with both", "disruptionBudget: {mode: Custom, minAvailable: 1, maxUnavailable: 1}", "spec.disruptionBudget", "mode Custom takes one number: remove minAvailable 1 or maxUnavailable 1"},
	{"automatic budget with a number", "disruptionBudget: {maxUnavailable: 1}", "spec.disruptionBudget", "mode Auto takes neither minAvailable nor maxUnavailable: set mode to Custom, or remove maxUnavailable"},
	{"automatic budget with both", "disruptionBudget: {minAvailable: 1, maxUnavailable: 1}", "spec.disruptionBudget", "mode Auto takes neither minAvailable nor maxUnavailable: set mode to Custom and keep one of them, or remove both"},
	{"liveness without action", "livenessProbe: {periodSeconds: 1}", "spec.livenessProbe", oneProbe + ", and none is"},
	{"readiness with two actions", "readinessProbe: {httpGet: {}, tcpSocket: {}}", "spec.readinessProbe", oneProbe + `: keep one of ["httpGet", "tcpSocket"]`},
	{"startup with two actions", "startupProbe: {grpc: {}, exec: {command: [a]}}", "spec.startupProbe", oneProbe + `: keep one of ["exec", "grpc"]`},
	{"mount without source", "mounts: [{mountPath: /a}]", "spec.mounts[0]", oneMount + ", and none is"},
	{"mount with two sources", "mounts: [{mountPath: /a, emptyDir: {}, secret: {secretName: a}}]", "spec.mounts[0]", oneMount + `: keep one of ["secret", "emptyDir"]`},
	{"endPort of a named port", "networkPolicy: {egress: [{to: [{application: {name: a}}], ports: [{port: http, endPort: 90}]}]}", "spec.networkPolicy.egress[0].ports[0]", "endPort 90 needs a port with a number, and port is http: write its number, or remove endPort"},
	{"endPort before port", "networkPolicy: {egress: [{to: [{application: {name: a}}], ports: [{port: 91, endPort: 90}]}]}", "spec.networkPolicy.egress[0].ports[0]", "endPort 90 is less than port 91: raise endPort, or remove it"},
	{"to nobody", "networkPolicy: {egress: [{to: [{}]}]}", "spec.networkPolicy.egress[0].to[0]", onePeer + ", and none is"},
	{"from two at once", "networkPolicy: {ingress: [{from: [{application: {name: a}, podSelector: {}}]}]}", "spec.networkPolicy.ingress[0].from[0]", onePeer + `: keep one of ["application", "podSelector"]`},
	{"port name of digits", "ports: [{name: '80', containerPort: 80}]", "spec.ports[0].name", "a port name needs at least one letter, such as http"},
	{"port name with two dashes", "ports: [{name: a--b, containerPort: 80}]", "spec.ports[0].name", "a port name cannot contain --: write a single -"},
	{"one of two ports without a name", "ports: [{name: http, containerPort: 80, servicePortName: ''}, {name: admin, containerPort: 81}]", "spec.ports", "servicePortName may be empty only if there is a single port, and there are 2: name it, or remove servicePortName"},
	{"annotations of a foreign account", "serviceAccount: {name: robot, annotations: {a: b}}", "spec.serviceAccount", "serviceAccount.annotations belong to the ServiceAccount that Fairlead creates, and it does not create robot: remove annotations, or name"},
	{"unknown strategy", "strategy: {type: BlueGreen}", "spec.strategy", "strategy.type must be RollingUpdate or Recreate, not BlueGreen"},
	{"too many variables of all containers", "env: [" + flowEnv(1) + "], initContainers: [" + flowContainers(1, 128) + "], sidecars: [" + flowContainers(1, 128) + "]", "spec", "the containers have 257 environment variables together, more than 256: use envFrom"},
	{"too many peers that may connect", "networkPolicy: {ingress: [" + flowRules("from", 5) + "]}", "spec.networkPolicy.ingress", tooManyPeers},
	{"too many peers to connect to", "networkPolicy: {egress: [" + flowRules("to", 5) + "]}", "spec.networkPolicy.egress", tooManyPeers},
	{"too many paths of all hostnames", port + "routes: [" + strings.Join(flowRoutes(16, 32, 2), ", ") + "]", "spec.routes", "the routes have 1024 paths, counted under each hostname, more than 512: use fewer, or several Applications"},
	{"config too long", "config: {mountPath: /a, data: {b: " + strings.Repeat("c", 1<<17) + ", d: " + strings.Repeat("e", 1<<17) + "}}", "spec.config.data", "file names and contents have 262146 bytes together, more than 262144: use a ConfigMap or volume of your own"},
	{"recreate with rolling numbers", "strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}", "spec.strategy", "strategy.rollingUpdate has no effect with strategy.type Recreate: change the type to RollingUpdate, or remove rollingUpdate"},
}

// flowRoutes are routes in YAML's flow style.
func flowRoutes(n, hostnames, paths int) []string {
	routes := make([]string, n)
	for i := range routes {
		var hosts, under []string
		for h := range hostnames {
			hosts = append(hosts, fmt.Sprintf("h%d.r%d.example.com", h, i))
		}
		for p := range paths {
			under = append(under, fmt.Sprintf("{path: /%d}", p))
		}
		routes[i] = fmt.Sprintf("{name: r%d, hostnames: [%s], paths: [%s]}", i, strings.Join(hosts, ", "), strings.Join(under, ", "))
	}
	return routes
}

// flowEnv are variables, flowContainers containers with so many each, and flowRules rules with 64 peers each.
func flowEnv(n int) string {
	env := make([]string, n)
	for i := range env {
		env[i] = fmt.Sprintf("{name: V%d}", i)
	}
	return strings.Join(env, ", ")
}

func flowLabels(n int) string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprintf("l%d: a", i)
	}
	return strings.Join(labels, ", ")
}

func flowContainers(n, env int) string {
	containers := make([]string, n)
	for i := range containers {
		containers[i] = fmt.Sprintf("{name: c%d, env: [%s]}", i, flowEnv(env))
	}
	return strings.Join(containers, ", ")
}

func flowRules(peers string, n int) string {
	rule := "{" + peers + ": [" + strings.TrimSuffix(strings.Repeat("{podSelector: {}}, ", 64), ", ") + "]}"
	return strings.TrimSuffix(strings.Repeat(rule+", ", n), ", ")
}

// bounds are the important ones of the schema.
var bounds = []refusal{
	{"negative replicas", "replicas: -1", "spec.replicas", "should be greater than or equal to 0"},
	{"too many replicas", "replicas: 10001", "spec.replicas", "should be less than or equal to 10000"},
	{"replicas of text", "replicas: two", "spec.replicas", "must be of type integer"},
	{"a command of text", "command: nginx", "spec.command", `must be of type array: "string"`},
	{"a port as a number", "ports: [8080]", "spec.ports[0]", `must be of type object: "integer"`},
	{"empty ports", "ports: []", "spec.ports", "should have at least 1 items"},
	{"port 0", "ports: [{name: http, containerPort: 0}]", "spec.ports[0].containerPort", "should be greater than or equal to 1"},
	{"port 65536", "ports: [{name: http, containerPort: 65536}]", "spec.ports[0].containerPort", "should be less than or equal to 65535"},
	{"port without number", "ports: [{name: http}]", "spec.ports[0].containerPort", "Required value"},
	{"long port name", "ports: [{name: a234567890123456, containerPort: 80}]", "spec.ports[0].name", "Too long"},
	{"two ports of one name", "ports: [{name: http, containerPort: 80}, {name: http, containerPort: 81}]", "spec.ports[1]", "Duplicate value"},
	{"two variables of one name", "env: [{name: A, value: a}, {name: A, value: b}]", "spec.env[1]", "Duplicate value"},
	{"pull policy", "imagePullPolicy: Sometimes", "spec.imagePullPolicy", `supported values: "Always", "IfNotPresent", "Never"`},
	{"reconcile policy", "reconcilePolicy: Ignore", "spec.reconcilePolicy", `supported values: "Enforce", "Observe", "Suspend"`},
	{"deletion policy", "deletionPolicy: Retain", "spec.deletionPolicy", `supported values: "Delete", "Orphan"`},
	{"service type", port + "service: {type: ExternalName}", "spec.service.type", `supported values: "ClusterIP", "NodePort", "LoadBalancer"`},
	{"route without host", port + "routes: [{name: a, hostnames: []}]", "spec.routes[0].hostnames", "should have at least 1 items"},
	{"route with an empty host", port + "routes: [{name: a, hostnames: ['']}]", "spec.routes[0].hostnames[0]", "should be at least 1 chars long"},
	{"route path", port + "routes: [{name: a, hostnames: [a.b], paths: [{path: a}]}]", "spec.routes[0].paths[0].path", "must start with /"},
	{"route type", port + "routes: [{name: a, hostnames: [a.b], type: Tunnel}]", "spec.routes[0].type", "Unsupported value"},
	{"relative mount", "mounts: [{mountPath: tmp, emptyDir: {}}]", "spec.mounts[0].mountPath", "must be an absolute path below /, without ':', such as /etc/web"},
	{"config at the root", "config: {mountPath: /, data: {a: b}}", "spec.config.mountPath", "must be an absolute path below /, without ':', such as /etc/web"},
	{"config without files", "config: {mountPath: /a, data: {}}", "spec.config.data", "should have at least 1 properties"},
	{"too many words", "args: [" + strings.TrimSuffix(strings.Repeat("a, ", 257), ", ") + "]", "spec.args", "must have at most 256 items"},
	{"too many labels of a node", "nodeSelector: {" + flowLabels(65) + "}", "spec.nodeSelector", "must have at most 64 items"},
	{"no progress deadline", "progressDeadlineSeconds: 0", "spec.progressDeadlineSeconds", "should be greater than or equal to 1"},
	{"target of no percent", "autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 0}", "spec.autoscaling.targetCPUUtilizationPercentage", "should be greater than or equal to 1"},
	{"from nobody", "networkPolicy: {ingress: [{from: []}]}", "spec.networkPolicy.ingress[0].from", `must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`},
	{"to nobody", "networkPolicy: {egress: [{to: []}]}", "spec.networkPolicy.egress[0].to", `must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`},
	{"empty class", "className: ''", "spec.className", "must not be empty: leave className out to get the default class of the namespace, if it has one"},
	{"class in capitals", "className: Gold", "spec.className", "must be lower-case letters, digits, '-' and '.', starting and ending with a letter or digit, such as my-name"},
	{"empty image", "image: ''", "spec.image", "should be at least 1 chars long"},
	{"image with a space", "image: 'a b'", "spec.image", "must be an image without spaces, such as registry.example.com/web:1.2"},
	{"port name in capitals", "ports: [{name: HTTP, containerPort: 80}]", "spec.ports[0].name", "must be lower-case letters, digits and '-', starting and ending with a letter or digit, such as my-name"},
	{"quantity of words", "resources: {limits: {cpu: lots}}", "spec.resources.limits[cpu]", `Invalid value: "lots": must be a quantity, such as 500m for half a CPU, or 64Mi or 64M of memory`},
	{"quantity of words in a list", "sidecars: [{name: a, image: b, resources: {requests: {memory: 64MB}}}]", "spec.sidecars[0].resources.requests[memory]", "must be a quantity, such as 500m for half a CPU, or 64Mi or 64M of memory"},
	{"quantity with a long exponent", "resources: {limits: {cpu: '1e-1000000'}}", "spec.resources.limits[cpu]", "must be a quantity, such as 500m for half a CPU, or 64Mi or 64M of memory"},
	{"quantity of spaces", "resources: {limits: {cpu: ' 1'}}", "spec.resources.limits[cpu]", "must be a quantity, such as 500m for half a CPU, or 64Mi or 64M of memory"},
	{"image too long", "image: " + strings.Repeat("a", 1025), "spec.image", "Too long"},
	{"no image", "image: null", "spec.image", "Required value"},
	{"unknown field", "replica: 1", "", `unknown field "spec.replica"`},
}

// TestRulesOfTheCRD lets the API server refuse what the CRD forbids, each with the message that
// it should have.
func TestRulesOfTheCRD(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	tried := map[string]bool{}
	for _, test := range slices.Concat(rules, bounds) {
		t.Run(test.name, func(t *testing.T) {
			e := e.sub(t)
			body := e.decode("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {" + test.spec + "}\n")[0]
			if spec, _, _ := unstructured.NestedMap(body.Object, "spec"); !strings.HasPrefix(test.spec, "image: ") {
				spec["image"] = "registry.example.com/web:1"
				body.Object["spec"] = spec
			}
			if e.refused(body, test.field, test.message) {
				tried[indices.ReplaceAllString(test.field, "[]")+" "+test.message] = true
			}
		})
	}
	for _, name := range []string{"1web", "web.v1", strings.Repeat("a", 64)} {
		t.Run("name "+name, func(t *testing.T) {
			e := e.sub(t)
			body := e.decode(named(small, name))[0]
			message := strconv.Quote(name) + ": must be an RFC 1035 label: at most 63 characters, lower-case letters, digits and hyphens, starting with a letter and ending with a letter or digit"
			if e.refused(body, "metadata.name", message) {
				tried["<nil> "+message] = true // The rule is about the whole object; its fieldPath names the field.
			}
		})
	}
	for _, rule := range celRules("", e.crd().Spec.Versions[0].Schema.OpenAPIV3Schema) {
		isTried := func(seen string) bool {
			says := func(text string) bool { return strings.Contains(seen, text) }
			return strings.HasPrefix(seen, rule.path+" ") && slices.ContainsFunc(rule.texts, says)
		}
		// What status tells of a class was taken from one, which has the same rules.
		if !slices.ContainsFunc(slices.Collect(maps.Keys(tried)), isTried) && !strings.HasPrefix(rule.path, "status.class.") {
			t.Errorf("no test breaks the rule at %s: %s", rule.path, rule.texts)
		}
	}
}

var indices = regexp.MustCompile(`\[\d+\]`)

// refused tries to create the object and wants a refusal for the field.
func (e *env) refused(body *unstructured.Unstructured, field, message string) bool {
	e.Helper()
	_, err := e.resource(body.GroupVersionKind()).Create(e.Context(), body, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		e.Errorf("not refused, but %v", err)
		return false
	}
	if field == "" && strings.Contains(err.Error(), message) {
		return true
	}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			if cause.Field == field && says(cause.Message, message) {
				return true
			}
		}
	}
	e.Errorf("refused otherwise than with %s: %s\n%v", field, message, err)
	return false
}

var typeOfValue = regexp.MustCompile(`Invalid value: "(?:object|array|string|integer|number|boolean)?": `)

// says reports whether a refusal says what a test wants. Where the newest API server has the value that a CEL rule refuses, an
// older one has its type, that of an object too, or nothing.
func says(refusal, want string) bool {
	if strings.Contains(refusal, want) {
		return true
	}
	if !typeOfValue.MatchString(refusal) {
		return false
	}
	refusal = typeOfValue.ReplaceAllString(refusal, "Invalid value: ")
	field, text, found := strings.Cut(want, "Invalid value: ")
	for found {
		if strings.Contains(refusal, field+"Invalid value: "+text) {
			return true
		}
		_, text, found = strings.Cut(text, ": ")
	}
	return false
}

// celRule is where a rule is, and what it may say; of a message with values, the words in front of one.
type celRule struct {
	path  string
	texts []string
}

// sentence is part of a text in a CEL expression, between values. The short ones are names.
var sentence = regexp.MustCompile(`(?:'|%[ds])([^'%]{15,})`)

// celRules lists all rules that are Fairlead's own. Those made of patterns are tried by the corpus of invalid objects.
func celRules(path string, props *apiextensionsv1.JSONSchemaProps) []celRule {
	var list []celRule
	for _, rule := range props.XValidations {
		if strings.HasPrefix(strings.TrimPrefix(rule.Rule, "type(self) != string || "), "self.matches(r'") {
			continue
		}
		at, texts := strings.TrimPrefix(path, "."), []string{rule.Message}
		if at == "" {
			at = "<nil>"
		}
		if rule.MessageExpression != "" {
			texts = nil
			for _, found := range sentence.FindAllStringSubmatch(rule.MessageExpression, -1) {
				texts = append(texts, found[1])
			}
		}
		list = append(list, celRule{at, texts})
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		property := props.Properties[name]
		list = append(list, celRules(path+"."+name, &property)...)
	}
	if props.Items != nil && props.Items.Schema != nil {
		list = append(list, celRules(path+"[]", props.Items.Schema)...)
	}
	return list
}

// crd reads the CustomResourceDefinition as the API server has it.
func (e *env) crd() *apiextensionsv1.CustomResourceDefinition {
	e.Helper()
	resource := schema.GroupVersionResource{Group: apiextensionsv1.GroupName, Version: "v1", Resource: "customresourcedefinitions"}
	live, err := e.dynamic.Resource(resource).Get(e.Context(), "applications.apps.fairlead.dev", metav1.GetOptions{})
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, definition)
	}
	if err != nil {
		e.Fatal(fmt.Errorf("read the CRD: %w", err))
	}
	return definition
}
