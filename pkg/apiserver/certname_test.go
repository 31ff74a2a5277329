// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"
)

func TestServesName(t *testing.T) {
	for _, test := range []struct {
		of   []string
		want string
	}{
		{[]string{"server.system.svc"}, ""},
		{[]string{"webhook.system.svc", "server.system.svc"}, ""},
		{[]string{"webhook.system.svc"}, "not valid for server.system.svc yet"},
	} {
		certificate, key, err := cert.GenerateSelfSignedCertKey(test.of[0], nil, test.of[1:])
		if err != nil {
			t.Fatal(err)
		}
		content, err := dynamiccertificates.NewStaticCertKeyContent("test", certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		err = servesName(content, "server.system.svc")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("a certificate of %q: %v, want %q", test.of, err, test.want)
		}
	}
}
