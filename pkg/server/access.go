// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

const (
	// reviewCacheTTL is how long the API server's answers are cached. Prometheus scrapes every few seconds.
	reviewCacheTTL = 10 * time.Second
	reviewTimeout  = 10 * time.Second
)

// Access asks the API server who the client is and what it may do.
type Access struct {
	authenticator authenticator.Request
	authorizer    authorizer.Authorizer
}

// NewAccess returns an Access. The controller needs the permission to create TokenReviews and SubjectAccessReviews.
func NewAccess(client kubernetes.Interface) (*Access, error) {
	// Few retries are enough: a failed scrape is repeated anyway.
	backoff := &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 3}
	authentication, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient:  client.AuthenticationV1(),
		TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff:      backoff,
		CacheTTL:                 reviewCacheTTL,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("create authenticator: %w", err)
	}
	authorization, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             reviewCacheTTL,
		DenyCacheTTL:              reviewCacheTTL,
		WebhookRetryBackoff:       backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("create authorizer: %w", err)
	}
	return &Access{authenticator: authentication, authorizer: authorization}, nil
}

// Require passes on requests with a bearer token of the cluster whose user may send them: it needs the verb get on
// the path, which a ClusterRole grants by nonResourceURLs.
func (a *Access) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, known, err := a.authenticator.AuthenticateRequest(r)
		if err != nil {
			klog.FromContext(r.Context()).V(2).Info("Not authenticated", "path", r.URL.Path, "cause", err)
		}
		if err != nil || !known {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		decision, reason, err := a.authorizer.Authorize(r.Context(), authorizer.AttributesRecord{
			User: who.User,
			Verb: strings.ToLower(r.Method),
			Path: r.URL.Path,
		})
		if err != nil {
			klog.FromContext(r.Context()).Error(err, "Authorization failed", "path", r.URL.Path, "user", who.User.GetName())
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
			return
		}
		if decision != authorizer.DecisionAllow {
			klog.FromContext(r.Context()).V(2).Info("Forbidden", "path", r.URL.Path, "user", who.User.GetName(), "reason", reason)
			http.Error(w, "Forbidden", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
