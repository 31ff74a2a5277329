// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/preview"
)

// platform are the files to look at, and what the platform says about them.
type platform struct {
	files, classFiles []string
	// recursive means that the directories in those of files are read, too.
	recursive            bool
	profile              string
	routeControllers     []string
	monitoringNamespaces []string
	// ownFacts means that a flag says what the platform is like, so the aggregated API is not asked.
	ownFacts bool
}

// asksCluster reports whether the cluster says what the platform is like.
func (p *platform) asksCluster() bool { return len(p.classFiles) == 0 && !p.ownFacts }

func (p *platform) addFiles(cmd *cobra.Command) {
	cmd.Flags().StringSliceVarP(&p.files, "filename", "f", nil, "Files or directories with Applications; - is standard input.")
	cmd.Flags().BoolVarP(&p.recursive, "recursive", "R", false, "Process the directories used in -f, --filename recursively.")
	cmd.Flags().StringVar(&p.profile, "security-profile", string(podsecurity.LevelRestricted), "The controller's --security-profile: restricted, baseline or privileged.")
}

// addClasses adds the flag of a command that otherwise asks the cluster for classes, if asks says so.
func (p *platform) addClasses(cmd *cobra.Command, asks bool) {
	usage := "Files or directories with ApplicationClasses."
	if asks {
		usage += " The cluster is then not asked."
	}
	cmd.Flags().StringSliceVar(&p.classFiles, "class-file", nil, usage)
}

func (p *platform) addFacts(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&p.routeControllers, "route-controller-namespaces", []string{"ingress-nginx", "traefik"}, "The controller's flag of this name.")
	cmd.Flags().StringSliceVar(&p.monitoringNamespaces, "monitoring-namespaces", []string{"monitoring"}, "The controller's flag of this name.")
}

// options let every ServiceAccount pass: only the webhook knows who asks.
func (p *platform) options() validation.Options {
	return validation.Options{SecurityProfile: podsecurity.Level(p.profile), ForeignServiceAccounts: true}
}

// checker checks files by the rules of the profile.
func (p *platform) checker() (*manifest.Checker, error) {
	if _, err := podsecurity.ParseLevel(p.profile); err != nil {
		return nil, fmt.Errorf("--security-profile is %q: use one of restricted, baseline, privileged", p.profile)
	}
	return manifest.NewChecker(p.options())
}

// noteUnread names the directories in the given ones that were not read.
func (p *platform) noteUnread(t *tool, paths []string) {
	if p.recursive {
		return
	}
	unread := manifest.Unread(paths...)
	const few = 3
	if more := len(unread) - few; more > 0 {
		unread = append(unread[:few:few], fmt.Sprintf("%d more", more))
	}
	if len(unread) > 0 {
		fmt.Fprintf(t.ErrOut, "Subdirectories were not read: %s. To read them, too, pass -R.\n", strings.Join(unread, ", "))
	}
}

// readClasses reads the class files. A file without a class is another one than was meant; a directory may be empty, because a
// platform may have no classes.
func (p *platform) readClasses(t *tool) ([]*manifest.Document, error) {
	var classes []*manifest.Document
	for _, path := range p.classFiles {
		documents, err := manifest.Read(t.In, false, path)
		if err != nil {
			return nil, err
		}
		found := false
		for _, document := range documents {
			is, err := document.IsClass()
			if err != nil {
				return nil, fmt.Errorf("--class-file: %s: %w", document.File, err)
			}
			found = found || is
		}
		info, err := os.Stat(path)
		if directory := err == nil && info.IsDir(); !directory && !found {
			return nil, fmt.Errorf("--class-file: there is no ApplicationClass of %s in %s", v1.SchemeGroupVersion, path)
		}
		classes = append(classes, documents...)
	}
	return classes, nil
}

// errInvalid ends a command whose file breaks a rule; the problems were printed.
var errInvalid = errors.New("the file breaks a rule: correct it, and check it with 'kubectl fairlead lint -f FILE'")

// filed is an Application of a file, as it would be stored, and its document.
type filed struct {
	*v1.Application
	document *manifest.Document
	// afterNamespace means that the files have its Namespace before it.
	afterNamespace bool
}

func (f filed) String() string { return f.Namespace + "/" + f.Name }

// applications reads the Applications of the files, at least one.
func (p *platform) applications(ctx context.Context, t *tool, files []string) ([]filed, *manifest.Checker, error) {
	if len(files) == 0 {
		return nil, nil, errors.New("pass a file with -f, or -f - for standard input")
	}
	checker, err := p.checker()
	if err != nil {
		return nil, nil, err
	}
	checker.Offline = len(p.classFiles) > 0
	documents, err := manifest.Read(t.In, p.recursive, files...)
	if err != nil {
		return nil, nil, err
	}
	classes, err := p.readClasses(t)
	if err != nil {
		return nil, nil, err
	}
	found := manifest.Applications(documents)
	if len(found) == 0 {
		return nil, nil, errors.New("there is no Application in the files")
	}
	isWarning := func(problem manifest.Problem) bool { return problem.Warning }
	problems := slices.DeleteFunc(checker.AddClasses(ctx, slices.Concat(documents, classes)), isWarning)
	problems = append(problems, manifest.Twice(found)...)
	applications := make([]filed, 0, len(found))
	for _, document := range found {
		application, broken := checker.Application(ctx, document)
		problems = append(problems, broken...)
		applications = append(applications, filed{Application: application, document: document})
	}
	if len(problems) > 0 {
		sortByPlace(problems, slices.Concat(documents, classes))
		if err := printProblems(t.screen(), output{}, problems, 0, uncheckedClasses{}); err != nil {
			return nil, nil, err
		}
		return nil, nil, errInvalid
	}
	places := map[string]string{}
	checker.NewNamespaces = map[string]map[string]string{}
	for i, application := range applications {
		if err := t.setNamespace(application.Application); err != nil {
			return nil, nil, err
		}
		name, place := application.String(), application.document.Place()
		if before, twice := places[name]; twice && before != place {
			return nil, nil, fmt.Errorf("%s is at %s and at %s: pass files that have each Application once", name, before, place)
		}
		places[name] = place
		if labels, found := manifest.NamespaceBefore(documents, application.document, application.Namespace); found {
			applications[i].afterNamespace, checker.NewNamespaces[application.Namespace] = true, labels
		}
	}
	return applications, checker, nil
}

// setNamespace gives an Application of a file the namespace of the command line if the file has none. kubectl, too, refuses another one.
func (t *tool) setNamespace(application *v1.Application) error {
	namespace, given, err := t.factory.ToRawKubeConfigLoader().Namespace()
	switch {
	case application.Namespace == "" && err != nil:
		return err
	case application.Namespace == "":
		application.Namespace = namespace
	case err == nil && given && application.Namespace != namespace:
		return fmt.Errorf("the Application of the file is in namespace %s, and --namespace is %s: leave out --namespace, or correct the file",
			application.Namespace, namespace)
	}
	return nil
}

// classesForbiddenError is the error of a user without permission to read the classes of an Application. It hides that of the API server, whose advice
// to choose another namespace does not help: classes are in none.
type classesForbiddenError struct{ denied error }

func (e *classesForbiddenError) Error() string {
	return e.ask() + ", or pass the classes as files with --class-file; an empty directory, if there are none."
}

// ask is the advice for a command whose help does not have --class-file, without the full stop.
func (e *classesForbiddenError) ask() string {
	return fmt.Sprintf("%v\nIts class decides what an Application becomes. Ask for get and list of applicationclasses.%s in the whole cluster", e.denied, v1.GroupName)
}

// platformOf asks the cluster for classes and the namespace, unless files say them. For a user without permission to list classes, it gets the one
// that the Application has; an Application that has none needs none.
func (p *platform) platformOf(ctx context.Context, t *tool, application *v1.Application, checker *manifest.Checker) (preview.Platform, error) {
	namespace := application.Namespace
	result := preview.Platform{Rules: class.Rules{Classes: checker.Classes, Namespace: class.Namespace{Name: namespace}}, Validation: p.options()}
	result.Facts.RouteControllerNamespaces, result.Facts.MonitoringNamespaces = p.routeControllers, p.monitoringNamespaces
	if len(p.classFiles) > 0 {
		return result, nil
	}
	clients, err := t.clients()
	if err != nil {
		return preview.Platform{}, err
	}
	if result.Rules.Classes, err = readClasses(ctx, clients, application); err != nil {
		return preview.Platform{}, err
	}
	if result.Facts.WithoutHTTPRoutes, err = lacksHTTPRoutes(ctx, clients, application); err != nil {
		return preview.Platform{}, err
	}
	live, err := clients.Kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	created, isCreated := checker.NewNamespaces[namespace]
	switch {
	case err == nil:
		result.Rules.Namespace.Labels = live.Labels
	case apierrors.IsNotFound(err) && isCreated:
		result.Rules.Namespace.Labels = created
	case apierrors.IsNotFound(err):
		result.Rules.Namespace.Unreadable = "namespace " + namespace + " does not exist"
	case apierrors.IsForbidden(err):
		result.Rules.Namespace.Unreadable = "you may not read namespace " + namespace
	default:
		return preview.Platform{}, err
	}
	return result, nil
}

// lacksHTTPRoutes reports whether the routes of the Application become Ingresses because the cluster does not serve HTTPRoutes.
func lacksHTTPRoutes(ctx context.Context, clients *cluster.Clients, application *v1.Application) (bool, error) {
	if len(application.Spec.Routes) == 0 {
		return false, nil
	}
	return lacks(ctx, clients, child.HTTPRoute)
}

// lacks reports whether the cluster does not serve the kind.
func lacks(ctx context.Context, clients *cluster.Clients, kind child.Kind) (bool, error) {
	served, err := clients.Kube.Discovery().ServerResourcesForGroupVersionWithContext(ctx, kind.GroupVersionKind().GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("find out whether the cluster serves %ss: %w", kind.Kind, err)
	}
	return !kind.ServedIn(served), nil
}

// readClasses returns the classes that decide about the Application.
func readClasses(ctx context.Context, clients *cluster.Clients, application *v1.Application) ([]*v1.ApplicationClass, error) {
	api := clients.Fairlead.AppsV1().ApplicationClasses()
	list, err := api.List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		denied := err
		if hasNoClass(application) {
			return nil, nil
		}
		if name := application.Spec.ClassName; name != "" {
			switch named, err := api.Get(ctx, name, metav1.GetOptions{}); {
			case err == nil:
				return []*v1.ApplicationClass{named}, nil
			case apierrors.IsNotFound(err):
				return nil, nil // Resolving the class says so.
			case !apierrors.IsForbidden(err):
				return nil, err
			}
		}
		return nil, &classesForbiddenError{denied}
	}
	if err != nil {
		return nil, err
	}
	classes := make([]*v1.ApplicationClass, 0, len(list.Items))
	for i := range list.Items {
		classes = append(classes, &list.Items[i])
	}
	return classes, nil
}

// hasNoClass reports whether the controller has found out that no class applies to the Application.
func hasNoClass(application *v1.Application) bool {
	status := application.Status
	return application.Spec.ClassName == "" && status.Class == nil && status.RefusedClass == nil && application.Generation > 0 && status.ObservedGeneration == application.Generation
}
