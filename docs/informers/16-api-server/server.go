// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/util/cert"
)

// newServer makes the server of the sessions. serves is the host in its certificate, which is its own CA.
func newServer(listener net.Listener, serves, kubeconfig string) (_ *genericapiserver.GenericAPIServer, ca []byte, err error) {
	scheme := newScheme()
	codecs := serializer.NewCodecFactory(scheme)
	config := genericapiserver.NewConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("log"))
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, openapinamer.NewDefinitionNamer(scheme))
	config.SkipOpenAPIInstallation = true // no document, but the models, which the server wants in any case

	certificate, key, err := cert.GenerateSelfSignedCertKey(serves, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	serving := options.NewSecureServingOptions()
	serving.Listener, serving.ServerCert.CertDirectory = listener, ""
	if serving.ServerCert.GeneratedCert, err = dynamiccertificates.NewStaticCertKeyContent("lab", certificate, key); err != nil {
		return nil, nil, err
	}
	if err := serving.WithLoopback().ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return nil, nil, err
	}
	if err := delegate(config, kubeconfig); err != nil {
		return nil, nil, err
	}
	server, err := config.Complete(nil).New("sessions", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, nil, err
	}
	sessions := newStore()
	group := genericapiserver.NewDefaultAPIGroupInfo(groupVersion().Group, scheme, runtime.NewParameterCodec(scheme), codecs)
	group.VersionedResourcesStorageMap[groupVersion().Version] = map[string]rest.Storage{
		"sessions":     &registry{TableConvertor: rest.NewDefaultTableConvertor(resource()), store: sessions, scheme: scheme},
		"sessions/log": &log{store: sessions},
	}
	return server, certificate, server.InstallAPIGroup(&group)
}

// delegate asks kube-apiserver who a client is, and what it may do. Behind the aggregation layer, its client certificate and
// headers say who; the ConfigMap extension-apiserver-authentication says by which CA, and under which name.
func delegate(config *genericapiserver.Config, kubeconfig string) error {
	authentication := options.NewDelegatingAuthenticationOptions()
	authentication.RemoteKubeConfigFile = kubeconfig
	if err := authentication.ApplyTo(&config.Authentication, config.SecureServing, nil); err != nil {
		return err
	}
	authorization := options.NewDelegatingAuthorizationOptions()
	authorization.RemoteKubeConfigFile = kubeconfig
	return authorization.ApplyTo(&config.Authorization)
}
