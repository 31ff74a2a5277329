// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/debug"
)

// Leader is where to find the controller that leads, and how to connect with it. Without a Lease, no timeline is served.
type Leader struct {
	// Lease is the NAMESPACE/NAME of the controllers' Lease. Its holder is a pod of the namespace.
	Lease string
	// Port is the controllers' port for metrics, where the leader serves its live view (--debug-pipeline).
	Port int
	// ServerName is the name in their certificate, and CAFile has the CAs that sign it.
	ServerName, CAFile string
	// TokenFile has the token of this server's ServiceAccount, by which the leader authenticates it.
	TokenFile string
}

const (
	// leaderTimeout is how long the leader may take to answer.
	leaderTimeout = 10 * time.Second
	// maxTimeline is more than a leader with full rings answers.
	maxTimeline = 8 << 20
)

// recorder reads what the leader has recorded.
type recorder struct {
	leader  Leader
	lease   cache.ObjectName
	objects kubernetes.Interface
}

func newRecorder(leader Leader, objects kubernetes.Interface) (*recorder, error) {
	lease, err := cache.ParseObjectName(leader.Lease)
	if err != nil || lease.Namespace == "" {
		return nil, fmt.Errorf("the Lease of the controllers is %q, but must be NAMESPACE/NAME", leader.Lease)
	}
	return &recorder{leader: leader, lease: lease, objects: objects}, nil
}

var errNoLeader = apierrors.NewServiceUnavailable("no controller leads at the moment; ask again")

// address finds the leader: the holder of the Lease is a pod and a suffix.
func (r *recorder) address(ctx context.Context) (string, error) {
	lease, err := r.objects.CoordinationV1().Leases(r.lease.Namespace).Get(ctx, r.lease.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "") {
		return "", errNoLeader
	}
	if err != nil {
		return "", fmt.Errorf("get Lease %s: %w", r.lease, err)
	}
	name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	pod, err := r.objects.CoreV1().Pods(r.lease.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && pod.Status.PodIP == "" {
		return "", errNoLeader
	}
	if err != nil {
		return "", fmt.Errorf("get the pod of the leader: %w", err)
	}
	return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(r.leader.Port)), nil
}

// timeline asks the leader about one Application. It is empty if the leader has recorded nothing about it.
func (r *recorder) timeline(ctx context.Context, name cache.ObjectName) (*debug.Timeline, error) {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	address, err := r.address(ctx)
	if err != nil {
		return nil, err
	}
	client, err := r.client()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	defer client.CloseIdleConnections()
	target := url.URL{Scheme: "https", Host: address, Path: "/debug/pipeline/" + debug.Version + "/keys/" + name.Namespace + "/" + name.Name}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	token, err := os.ReadFile(r.leader.TokenFile)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("read the token for the leader: %w", err))
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	answer, err := client.Do(request)
	if err != nil {
		return nil, apierrors.NewServiceUnavailable("the leader of the controllers does not answer: " + err.Error())
	}
	defer answer.Body.Close()
	return readTimeline(answer)
}

// client trusts the CAs of the file, which may change at any time.
func (r *recorder) client() (*http.Client, error) {
	content, err := os.ReadFile(r.leader.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the CAs of the leader: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(content) {
		return nil, errors.New("the file with the CAs of the leader has none")
	}
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: r.leader.ServerName, MinVersion: tls.VersionTLS12}},
		// A redirect could lead the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// unknownKey is how the leader's answer begins if it has recorded nothing about an Application.
const unknownKey = "Nothing is known about this key"

func readTimeline(answer *http.Response) (*debug.Timeline, error) {
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxTimeline+1))
	switch {
	case err != nil:
		return nil, apierrors.NewServiceUnavailable("the leader of the controllers stopped answering: " + err.Error())
	case len(body) > maxTimeline:
		return nil, apierrors.NewInternalError(fmt.Errorf("the leader answers more than %d bytes", maxTimeline))
	case answer.StatusCode == http.StatusNotFound && strings.HasPrefix(string(body), unknownKey):
		return &debug.Timeline{}, nil
	case answer.StatusCode == http.StatusNotFound:
		return nil, apierrors.NewServiceUnavailable("the controller records nothing: it runs without --debug-pipeline")
	case answer.StatusCode != http.StatusOK:
		return nil, apierrors.NewServiceUnavailable("the leader of the controllers answers " + answer.Status)
	}
	recorded := &debug.Timeline{}
	if err := json.Unmarshal(body, recorded); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("read the answer of the leader: %w", err))
	}
	return recorded, nil
}
