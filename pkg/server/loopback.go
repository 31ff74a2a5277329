// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"net/http"
)

// LoopbackNamesOnly refuses requests that were sent to another name than this machine's own. It is for a
// loopback listener that authenticates nobody: it keeps web pages out that make their own name resolve to
// 127.0.0.1 and ask from the browser of the person at this machine.
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
