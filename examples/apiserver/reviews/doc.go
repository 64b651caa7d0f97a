// Package reviews answers questions about tokens and rights: TokenReview, SelfSubjectReview and the access reviews.
// Nothing of them is stored.
package reviews
