// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"net/http"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
)

// The paths that the Handler serves, and nothing else.
const (
	MutatePath   = "/mutate/applications"
	ValidatePath = "/validate/applications"
)

const (
	// DefaultMaxInFlight lets through more than an API server sends at once, unless lookups hang.
	DefaultMaxInFlight = 64
	// Timeout is how long an answer may take. It is below TimeoutSeconds, so that a slow lookup ends
	// in an answer that says so.
	Timeout = 4 * time.Second
	// maxBody is more than a review of two Applications can have: the API server takes requests of at
	// most 3 MiB, and an object is sent as it was and as it shall be.
	maxBody = 8 << 20
	// bodyTimeout is how long the body of a request may take. An API server sends it at once.
	bodyTimeout = 2 * time.Second
	// maxBodies is how many bodies are read at once, maxBodyBytes how much they may hold together. A single
	// source gets a quarter of each, so a client that sends slowly, or much, does not keep the API server out.
	maxBodies    = 512
	maxBodyBytes = 256 << 20
)

// Config is what the webhooks work with. All functions must be safe for concurrent use.
type Config struct {
	// Validation are the limits that the platform sets, the same as the sync's. With ForeignServiceAccounts, the rule
	// serviceAccount reviews the requester; without, no request may name an account, because the sync would refuse it.
	Validation validation.Options
	// Validate applies the rules that the sync applies, e.g. with the limits of an ApplicationClass. Nil:
	// validation.ValidateApplication with Validation.
	Validate func(context.Context, *v1.Application) (field.ErrorList, error)
	// Classes are the ApplicationClasses: an Application gets the default one, is validated in its class,
	// and no class is deleted that is in use. Nil: there are none.
	Classes Classes
	// RequireClass refuses Applications that no class applies to.
	RequireClass bool
	// Defaulters run in this order after v1.SetDefaults, over a new or changed spec.
	Defaulters []Defaulter
	// Routes are the claims of the stored Applications, the one in the request included, to host names:
	// informer.Informers. Required.
	Routes Routes
	// Revisions are those that spec.rollback.toRevision may name. Nil: no request is warned of a missing one.
	Revisions Revisions
	// ReviewAccess asks whether the requester may do something: see ReviewAccessBy. Required.
	ReviewAccess func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error)
	// Find returns the metadata of an object, or nil if it does not exist: see FindBy. Required. An error, such as a
	// missing permission, means that nothing is known: no warning about the object, and no ServiceAccount without a
	// review.
	Find func(context.Context, Reference) (*metav1.PartialObjectMetadata, error)
	// WithSelection adds to the metadata of a Deployment its selector and the labels of its template: apply.WithSelection. Nil, or an
	// answer that is no Deployment, means that nothing is known about them.
	WithSelection func(context.Context, *metav1.PartialObjectMetadata) metav1.Object
	// Unavailable returns the optional kinds that the cluster does not serve, with the reasons: informer.Informers. Nil: no
	// request is warned of one.
	Unavailable func() map[child.Kind]child.Unavailable
	// Metrics may be nil.
	Metrics *Metrics
	// MaxInFlight is how many requests are worked on at once; further ones get 429 at once. A single source
	// gets three quarters of them. 0: DefaultMaxInFlight.
	MaxInFlight int
}

// Defaulter changes the spec of an Application before it is stored. It must change nothing else, and do nothing
// more when it is called twice: the API server may ask again after other webhooks.
type Defaulter func(context.Context, *v1.Application)

// Handler serves the webhooks. It is safe for concurrent use and has nothing to close.
type Handler struct {
	config Config
	codec  codec
	mux    *http.ServeMux
	probes probes

	// bodies and bytes bound what is held of requests whose body has not arrived, slots the requests that are
	// worked on.
	bodies, bytes, slots *shares
}

// New returns a Handler for MutatePath and ValidatePath. It answers at once; whether it should be
// asked before the informers have synced is the readiness check's to say. The logger comes from
// the context of each request: set it in http.Server.BaseContext.
func New(config Config) (*Handler, error) {
	if config.Routes == nil || config.ReviewAccess == nil || config.Find == nil {
		return nil, errors.New("admission needs Routes, ReviewAccess and Find")
	}
	if config.Classes != nil {
		config = withClasses(config)
	}
	if config.Validate == nil {
		config.Validate = func(_ context.Context, application *v1.Application) (field.ErrorList, error) {
			return validation.ValidateApplication(application, config.Validation), nil
		}
	}
	if config.MaxInFlight <= 0 {
		config.MaxInFlight = DefaultMaxInFlight
	}
	if config.Metrics == nil {
		config.Metrics = NewMetrics()
	}
	codec, err := newCodec()
	if err != nil {
		return nil, err
	}
	h := &Handler{
		config: config, codec: codec, mux: http.NewServeMux(),
		bodies: newShares(maxBodies, maxBodies/4),
		bytes:  newShares(maxBodyBytes, maxBodyBytes/4),
		slots:  newShares(config.MaxInFlight, config.MaxInFlight-config.MaxInFlight/4),
	}
	h.mux.Handle("POST "+MutatePath, h.serve(Mutating, h.mutate))
	h.mux.Handle("POST "+ValidatePath, h.serve(Validating, h.validate))
	h.mux.Handle("POST "+ValidateClassPath, h.serve(Validating, h.validateClass))
	h.mux.Handle("POST "+ValidateScalePath, h.serve(Validating, h.validateScale))
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }
