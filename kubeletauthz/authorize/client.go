package authorize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// Bounds of a Client.
const (
	maxAnswerBytes = 1 << 20 // 1 MiB of an API server's answer
	maxErrorBytes  = 512     // bytes of an answer that a StatusError keeps
)

// reviewsPath is where an API server takes reviews.
const reviewsPath = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// Client is a Reviewer that asks an API server over HTTP. Its fields must not change after first use.
//
// It asks once and does not retry: the next request asks again.
type Client struct {
	// HTTP has the credentials and the trust in the server; nil is http.DefaultClient, which has neither.
	HTTP *http.Client
	// Server is the API server's base URL, such as "https://10.0.0.1:6443".
	Server string
}

var _ Reviewer = (*Client)(nil)

// Review posts the question and returns the status of the answer.
//
// It returns the transport's error, or one that wraps [ErrNotAReview]: a [*StatusError] for an HTTP status other than
// 200 and 201, else for an answer of more than 1 MiB, one that is not JSON, is of another kind or version, or sets one
// field twice. No error's text shows what the server answered.
func (c *Client) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	var none authorizationv1.SubjectAccessReviewStatus
	request, err := c.request(ctx, spec)
	if err != nil {
		return none, err
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return none, fmt.Errorf("review: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return none, fmt.Errorf("review: %w", err)
	case len(body) > maxAnswerBytes:
		return none, fmt.Errorf("%w: more than %d bytes", ErrNotAReview, maxAnswerBytes)
	case response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated:
		return none, &StatusError{Code: response.StatusCode, Body: redact.New(string(body[:min(len(body), maxErrorBytes)]))}
	}
	return parseAnswer(body)
}

func (c *Client) request(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (*http.Request, error) {
	body, err := json.Marshal(authorizationv1.SubjectAccessReview{TypeMeta: reviewType(), Spec: spec})
	if err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	address := strings.TrimSuffix(c.Server, "/") + reviewsPath
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		var fault *url.Error
		if errors.As(err, &fault) {
			err = fault.Err // the address may hold a password
		}
		return nil, fmt.Errorf("review: server's address: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	return request, nil
}

func reviewType() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"}
}

// parseAnswer reads names case sensitively and refuses duplicate ones: of "allowed" twice, neither value is the right
// one. Of a fault it tells no more than the character that is not JSON.
func parseAnswer(body []byte) (authorizationv1.SubjectAccessReviewStatus, error) {
	var answer authorizationv1.SubjectAccessReview
	duplicates, err := kjson.UnmarshalStrict(body, &answer, kjson.DisallowDuplicateFields)
	var none authorizationv1.SubjectAccessReviewStatus
	syntax, _ := kjson.SyntaxErrorOffset(err)
	switch {
	case syntax:
		return none, fmt.Errorf("%w: %w", ErrNotAReview, err)
	case err != nil:
		return none, fmt.Errorf("%w: a field has another type", ErrNotAReview)
	case len(duplicates) > 0:
		return none, fmt.Errorf("%w: a field is set twice", ErrNotAReview)
	case answer.TypeMeta != reviewType():
		return none, fmt.Errorf("%w: another kind or version", ErrNotAReview)
	}
	return answer.Status, nil
}
