// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"net/http"
)

// LoopbackNamesOnly refuses requests that were not sent to a name of the loopback interface. It protects a loopback
// listener without authentication from DNS rebinding: a web page could make its own name resolve to 127.0.0.1, and
// send requests from the browser on this machine.
func LoopbackNamesOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !namesThisMachine(r.Host) {
			http.Error(w, "use localhost or a loopback address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
