// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

func TestVolumes(t *testing.T) {
	const temporary = `{name: tmp, emptyDir: {}}`
	data := v1.VolumeName("/data")
	checkFragments(t, child.Deployment, podPath+".volumes", []fragmentCase{
		{"default", ``, `[` + temporary + `]`},
		{"config", `config: {mountPath: /etc/web, data: {a: b}}`, `[` + temporary + `, {name: config, configMap: {name: web-config}}]`},
		{"config at /tmp", `config: {mountPath: /tmp/, data: {a: b}}`, `[{name: config, configMap: {name: web-config}}]`},
		{"something else at /tmp", `mounts: [{mountPath: /tmp, emptyDir: {sizeLimit: 1024Mi}}]`,
			`[{name: ` + v1.VolumeName("/tmp") + `, emptyDir: {sizeLimit: 1Gi}}]`},
		{"something else below /tmp", `mounts: [{mountPath: /tmp/data, emptyDir: {}}]`,
			`[` + temporary + `, {name: ` + v1.VolumeName("/tmp/data") + `, emptyDir: {}}]`},
		{"Secret", `mounts: [{mountPath: /data, secret: {secretName: web-tls, defaultMode: 0440, optional: false, items: [{key: a, path: b}]}}]`,
			`[` + temporary + `, {name: ` + data + `, secret: {secretName: web-tls, defaultMode: 288, optional: false, items: [{key: a, path: b}]}}]`},
		{"ConfigMap", `mounts: [{mountPath: /data, configMap: {name: web}}]`,
			`[` + temporary + `, {name: ` + data + `, configMap: {name: web}}]`},
		{"PersistentVolumeClaim", `mounts: [{mountPath: /data, persistentVolumeClaim: {claimName: web, readOnly: true}}]`,
			`[` + temporary + `, {name: ` + data + `, persistentVolumeClaim: {claimName: web, readOnly: true}}]`},
	})
}

func TestVolumeMounts(t *testing.T) {
	const temporary = `{name: tmp, mountPath: /tmp}`
	data := v1.VolumeName("/data")
	mounted := func(source, readOnly string) fragmentCase {
		return fragmentCase{source, `mounts: [{mountPath: /data, ` + source + `}]`,
			`[` + temporary + `, {name: ` + data + `, mountPath: /data` + readOnly + `}]`}
	}
	checkFragments(t, child.Deployment, applicationPath+".volumeMounts", []fragmentCase{
		{"default", ``, `[` + temporary + `]`},
		{"config", `config: {mountPath: /etc/web, data: {a: b}}`, `[` + temporary + `, {name: config, mountPath: /etc/web, readOnly: true}]`},
		mounted(`secret: {secretName: a}`, `, readOnly: true`),
		mounted(`configMap: {name: a}`, `, readOnly: true`),
		mounted(`projected: {sources: [{secret: {name: a}}]}`, `, readOnly: true`),
		mounted(`emptyDir: {}`, ``),
		mounted(`persistentVolumeClaim: {claimName: a}`, ``),
		mounted(`readOnly: false, secret: {secretName: a}`, ``),
		mounted(`readOnly: true, emptyDir: {}`, `, readOnly: true`),
		mounted(`subPath: a/b, emptyDir: {}`, `, subPath: a/b`),
	})
}

// The name of a volume depends only on its own mount, and the order of the mounts does not matter. Otherwise pods
// would be replaced for nothing.
func TestVolumesAreStable(t *testing.T) {
	template := func(spec string) string {
		return fragment(t, rendered(t, application(t, spec)), child.Deployment, "spec.template")
	}
	one := template(`mounts: [{mountPath: /a, emptyDir: {}}, {mountPath: /b, configMap: {name: b}}]`)
	other := template(`mounts: [{mountPath: /b, configMap: {name: b}}, {mountPath: /a, emptyDir: {}}]`)
	wantYAML(t, "pod template with the mounts in another order", other, one)
}
