// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// TestS23AnyFrontProxy: the server does not start in a cluster where every client of the front-proxy CA may name any user, nor
// without delegated authentication and authorization.
func TestS23AnyFrontProxy(t *testing.T) {
	complete := func(allowedNames []string, delegated bool) error {
		scheme, codecs := NewScheme()
		generic := NewGenericConfig(scheme, codecs)
		generic.Authentication.RequestHeaderConfig = &authenticatorfactory.RequestHeaderConfig{AllowedClientNames: headerrequest.StaticStringSlice(allowedNames)}
		if delegated {
			generic.Authentication.Authenticator = authenticator.RequestFunc(nil)
			generic.Authorization.Authorizer = authorizer.AuthorizerFunc(nil)
		}
		_, err := (&Config{Generic: generic}).Complete(scheme, codecs)
		return err
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"any name":            {complete(nil, true), "set --requestheader-allowed-names"},
		"not even delegation": {complete([]string{"proxy"}, false), "needs delegated authentication"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, test.err, test.want)
		}
	}
}
