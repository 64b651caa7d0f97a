package authorize

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// Bounds of a Client.
const (
	MaxAnswerBytes = 1 << 20 // 1 MiB of an API server's answer
	MaxErrorBytes  = 512     // bytes of an answer's text in a StatusError
)

// reviewsPath is where an API server takes reviews.
const reviewsPath = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// Client is a Reviewer that asks an API server over HTTP. Its fields are not to be changed after first use.
//
// It asks once: a question that failed is asked again by the next request. Wrap it to repeat at once.
type Client struct {
	// HTTP carries the credentials and the trust in the server; nil is http.DefaultClient, which has neither.
	HTTP *http.Client
	// Server is the API server's base URL, such as "https://10.0.0.1:6443".
	Server string
}

var _ Reviewer = (*Client)(nil)

// Review posts the question and returns the status of the answer.
//
// Errors: the transport's; a [*StatusError] for an HTTP status other than 200 and 201; [ErrTooLarge]; [ErrNotAReview] for
// anything that is not JSON, is another kind or version, or has one field twice.
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
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswerBytes+1))
	switch {
	case err != nil:
		return none, fmt.Errorf("review: %w", err)
	case len(body) > MaxAnswerBytes:
		return none, ErrTooLarge
	case response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated:
		return none, &StatusError{Code: response.StatusCode, Body: string(body[:min(len(body), MaxErrorBytes)])}
	}
	return parseAnswer(body)
}

func (c *Client) request(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (*http.Request, error) {
	body, err := json.Marshal(authorizationv1.SubjectAccessReview{TypeMeta: reviewType(), Spec: spec})
	if err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	url := strings.TrimSuffix(c.Server, "/") + reviewsPath
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	return request, nil
}

func reviewType() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"}
}

// parseAnswer reads names case sensitively and refuses doubled ones: of "allowed" twice, no value is better than the other.
func parseAnswer(body []byte) (authorizationv1.SubjectAccessReviewStatus, error) {
	var answer authorizationv1.SubjectAccessReview
	doubled, err := kjson.UnmarshalStrict(body, &answer, kjson.DisallowDuplicateFields)
	switch {
	case err != nil:
		return authorizationv1.SubjectAccessReviewStatus{}, fmt.Errorf("%w: %w", ErrNotAReview, err)
	case len(doubled) > 0:
		return authorizationv1.SubjectAccessReviewStatus{}, fmt.Errorf("%w: %w", ErrNotAReview, doubled[0])
	case answer.TypeMeta != reviewType():
		return authorizationv1.SubjectAccessReviewStatus{}, fmt.Errorf("%w: %s %s", ErrNotAReview, answer.APIVersion, answer.Kind)
	}
	return answer.Status, nil
}
