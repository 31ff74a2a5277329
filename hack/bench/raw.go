// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// raw is the floor: a client that does nothing but write what the controller writes, by the same requests, over as many
// connections and with as many requests under way. It has everything encoded before it begins.
type raw struct {
	connections []*clients
	workers     int
}

// rawAgent is how the user agent of the raw client begins.
const rawAgent = agent + "-raw"

func (l *lab) newRaw(connections int) (*raw, error) {
	r := &raw{workers: l.options.workers}
	for i := range max(1, connections) {
		c, err := l.newClients(rawAgent+"/"+strconv.Itoa(i), l.controller)
		if err != nil {
			return nil, err
		}
		r.connections = append(r.connections, c)
	}
	return r, nil
}

func (r *raw) close() {
	for _, c := range r.connections {
		c.http.CloseIdleConnections()
	}
}

// bundle is what one Application takes.
type bundle struct {
	children []object
	// owner and status are the status write.
	owner  *v1.Application
	status []byte
}

type object struct {
	ref  child.Ref
	body []byte
}

// sample is an Application that the controller brought to rest, to make the others' status of.
type sample struct {
	application *v1.Application
	status      []byte
	// connections is how many the controller had meanwhile.
	connections int
}

// bundles renders the children as the controller does. The Applications must exist, since children name their UID.
func (s *sample) bundles(applications []*v1.Application) ([]bundle, error) {
	all := make([]bundle, 0, len(applications))
	for _, application := range applications {
		b := bundle{owner: application}
		desired, err := rendered(application)
		if err != nil {
			return nil, err
		}
		for _, d := range desired {
			fields, err := d.Object()
			if err != nil {
				return nil, err
			}
			body, err := json.Marshal(fields)
			if err != nil {
				return nil, err
			}
			b.children = append(b.children, object{d.Ref, body})
		}
		if b.status, err = s.statusOf(application); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// statusOf is the Application with the sample's status under its own name.
func (s *sample) statusOf(application *v1.Application) ([]byte, error) {
	status := bytes.ReplaceAll(s.status, []byte(`"`+s.application.Name), []byte(`"`+application.Name))
	with := application.DeepCopy()
	with.ManagedFields = nil
	if err := json.Unmarshal(status, &with.Status); err != nil {
		return nil, err
	}
	with.APIVersion, with.Kind = v1.SchemeGroupVersion.String(), "Application"
	return json.Marshal(with)
}

// method is how a child is written.
type method func(ctx context.Context, c apply.Client, o object) error

func post(ctx context.Context, c apply.Client, o object) error {
	_, err := c.Create(ctx, o.ref, o.body, apply.FieldManager)
	return err
}

func serverSideApply(ctx context.Context, c apply.Client, o object) error {
	_, err := c.Patch(ctx, o.ref, types.ApplyPatchType, o.body, apply.FieldManager)
	return err
}

// write writes all bundles. Each takes its way as in a sync: one child after the other, then the status.
func (r *raw) write(ctx context.Context, bundles []bundle, how method) error {
	return inParallel(ctx, r.workers, len(bundles), func(ctx context.Context, i int) error {
		return r.writeOne(ctx, r.connections[i%len(r.connections)], bundles[i], how)
	})
}

func (r *raw) writeOne(ctx context.Context, c *clients, b bundle, how method) error {
	for _, o := range b.children {
		if err := how(ctx, c.children, o); err != nil {
			return fmt.Errorf("write %s: %w", o.ref, err)
		}
	}
	return c.writeStatus(ctx, b.owner, b.status)
}

// writeStatus sends a status as the controller's client does.
func (c *clients) writeStatus(ctx context.Context, owner *v1.Application, body []byte) error {
	err := c.fairlead.AppsV1().RESTClient().Put().
		Namespace(owner.Namespace).Resource(v1.ApplicationResource).Name(owner.Name).SubResource("status").
		Param("fieldManager", apply.FieldManager).
		SetHeader("Content-Type", "application/json").
		Body(body).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("write status of %s/%s: %w", owner.Namespace, owner.Name, err)
	}
	return nil
}
