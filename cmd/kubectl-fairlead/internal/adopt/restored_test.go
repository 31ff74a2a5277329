// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestRestoredNamesVolumes: a user finds each name of a volume in the backup, or in the live Deployment. A volume that the restored pods
// have is not removed, whatever the live pods call it. None is hidden behind another one.
func TestRestoredNamesVolumes(t *testing.T) {
	conf, second, cache := v1.VolumeName("/etc/shop"), v1.VolumeName("/second"), v1.VolumeName("/cache")
	named := strings.NewReplacer("CONF", conf, "SECOND", second, "CACHE", cache)
	deployment := func(containers, volumes string) *appsv1.Deployment {
		return parse[appsv1.Deployment](t, named.Replace("metadata: {name: shop}\nspec: {template: {spec: {containers: ["+containers+"], volumes: ["+volumes+"]}}}"))
	}
	const (
		app  = "{name: app, volumeMounts: [{name: cfg, mountPath: /etc/shop}]}, {name: worker, volumeMounts: [{name: cfg, mountPath: /etc/shop}]}"
		shop = "{name: shop, volumeMounts: [{name: CONF, mountPath: /etc/shop}]}, {name: worker, volumeMounts: [{name: CONF, mountPath: /etc/shop}]}"
		cfg  = "{name: cfg, configMap: {name: shop-config}}"
		now  = "{name: CONF, configMap: {name: shop-config}}"
		host = "{name: cfg, hostPath: {path: /}}"
		tmp  = "{name: tmp, emptyDir: {}}"
	)
	for name, test := range map[string]struct {
		saved, live *appsv1.Deployment
		every       bool
		want        []string
	}{
		"adopted": {saved: deployment(app, cfg), live: deployment(shop, now)},
		"the Application does not mount it": {
			saved: deployment(app, cfg), live: deployment("{name: shop}, {name: worker}", tmp),
			want: []string{
				`.volumes[cfg].configMap.name: added "shop-config"`, `.volumes[cfg].name: added "cfg"`,
				`.volumes[tmp].emptyDir: removed {}`, `.volumes[tmp].name: removed "tmp"`,
			},
		},
		"nor in an unvouched backup": {
			saved: deployment(app, cfg), live: deployment("{name: shop}, {name: worker}", tmp), every: true,
			want: []string{
				`.containers[shop].volumeMounts[0].mountPath: added "/etc/shop"`, `.containers[shop].volumeMounts[0].name: added "cfg"`,
				`.containers[worker].volumeMounts[0].mountPath: added "/etc/shop"`, `.containers[worker].volumeMounts[0].name: added "cfg"`,
				`.volumes[cfg].configMap.name: added "shop-config"`, `.volumes[cfg].name: added "cfg"`,
				`.volumes[tmp].emptyDir: removed {}`, `.volumes[tmp].name: removed "tmp"`,
			},
		},
		"the Application mounts another": {
			saved: deployment(app, cfg), live: deployment(shop, "{name: CONF, configMap: {name: other}}"),
			want: []string{`.volumes[cfg].configMap.name: "other" → "shop-config"`},
		},
		"the manifest brought it back": {saved: deployment(app, cfg), live: deployment(shop, cfg+", "+now)},
		"the manifest brought two back": {
			saved: deployment(app, "{name: a, emptyDir: {}}, "+cfg), live: deployment(shop, now+", "+cfg+", {name: a, emptyDir: {}}"),
		},
		"the manifest brought back what the Application does not mount": {
			saved: deployment(app, cfg), live: deployment("{name: shop}, {name: worker, volumeMounts: [{name: cfg, mountPath: /etc/shop}]}", cfg),
		},
		"what came back is another": {
			saved: deployment(app, cfg), live: deployment(shop, "{name: cfg, configMap: {name: other}}, "+now),
			want: []string{`.volumes[cfg].configMap.name: "other" → "shop-config"`},
		},
		"what came back hides nothing": {
			saved: deployment(app, host), live: deployment(shop, now+", "+host),
			want: []string{`.volumes[` + conf + `].configMap.name: removed "shop-config"`, `.volumes[` + conf + `].hostPath.path: added "/"`},
		},
		"mounted twice": {
			saved: deployment("{name: app, volumeMounts: [{name: cfg, mountPath: /etc/shop}, {name: cfg, mountPath: /second}]}", cfg),
			live:  deployment("{name: shop, volumeMounts: [{name: SECOND, mountPath: /second}, {name: CONF, mountPath: /etc/shop}]}", "{name: SECOND, configMap: {name: shop-config}}, "+now),
		},
		"it goes": {
			saved: deployment(app, cfg), live: deployment(shop, now+", "+tmp),
			want: []string{`.volumes[tmp].emptyDir: removed {}`, `.volumes[tmp].name: removed "tmp"`},
		},
		"another volume has its name": {
			saved: deployment("{name: app, volumeMounts: [{name: tmp, mountPath: /cache}]}", "{name: tmp, secret: {secretName: shop}}"),
			live:  deployment("{name: shop, volumeMounts: [{name: CACHE, mountPath: /cache}, {name: tmp, mountPath: /tmp}]}", "{name: CACHE, secret: {secretName: shop}}, "+tmp),
			want:  []string{`.volumes[tmp].emptyDir: removed {}`, `.volumes[tmp].secret.secretName: added "shop"`},
		},
		"two volumes change places": {
			saved: deployment("{name: app, volumeMounts: [{name: tmp, mountPath: /cache}, {name: data, mountPath: /tmp}]}", "{name: tmp, secret: {secretName: shop}}, {name: data, emptyDir: {}}"),
			live:  deployment("{name: shop, volumeMounts: [{name: tmp, mountPath: /tmp}]}", tmp),
			want:  []string{`.volumes[` + cache + `].name: added "` + cache + `"`, `.volumes[` + cache + `].secret.secretName: added "shop"`},
		},
		"a name twice is a whole list": {
			saved: deployment(app, cfg+", "+host), live: deployment(shop, now),
			want: []string{`.volumes: [{"configMap":{"name":"shop-config"},"name":"cfg"}] → ` +
				`[{"configMap":{"name":"shop-config"},"name":"cfg"},{"hostPath":{"path":"/"},"name":"cfg"}]`},
		},
	} {
		saved := test.saved.DeepCopy()
		changes, err := Saved{Deployment: test.saved}.Restored(test.live, nil, test.every)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, change := range changes {
			got = append(got, strings.TrimPrefix(difference.DescribeWhole(change), "Deployment/shop: .spec.template.spec"))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(saved, test.saved); diff != "" {
			t.Errorf("%s: the backup is changed (-want +got):\n%s", name, diff)
		}
	}
}
