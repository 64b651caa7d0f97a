package execcredential

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

// Credential is a checked answer, ready to use: a token, a certificate with its key, or both. It does not change.
// Formatting, encoding and logging it shows which parts it has and when it expires.
type Credential struct {
	token       redact.Text
	certificate *tls.Certificate
	expires     time.Time
}

// ParseAnswer reads a plugin's standard output and checks it against the configured version.
//
// The output is JSON or YAML; unknown fields are ignored and a missing kind is taken as right, as client-go has both.
// Errors, in the order of the checks, none of which repeats the output: *[DecodeError]; *[KindError]; *[VersionError]
// when the version is not want; [ErrNoStatus]; [ErrNoCredential]; [ErrHalfPair], also beside a token; [ErrKeyPair];
// [ErrToken].
func ParseAnswer(output []byte, want string) (*Credential, error) {
	wire, err := decode(output)
	if err != nil {
		return nil, err
	}
	if wire.Kind != "" && wire.Kind != Kind {
		return nil, &KindError{Kind: clip(wire.Kind), Group: clip(groupOf(wire.APIVersion))}
	}
	if wire.APIVersion != want {
		return nil, &VersionError{Want: want, Got: clip(wire.APIVersion)}
	}
	if wire.Status == nil {
		return nil, ErrNoStatus
	}
	return NewCredential(*wire.Status.status())
}

// NewCredential checks a status that is already decoded. The errors are the last four of [ParseAnswer].
func NewCredential(status Status) (*Credential, error) {
	certificate, key := status.ClientCertificateData, status.ClientKeyData.Reveal()
	switch {
	case status.Token.IsEmpty() && certificate == "" && key == "":
		return nil, ErrNoCredential
	case (certificate == "") != (key == ""):
		return nil, ErrHalfPair
	}
	credential := &Credential{token: status.Token}
	if status.ExpirationTimestamp != nil {
		credential.expires = *status.ExpirationTimestamp
	}
	if certificate != "" {
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			return nil, ErrKeyPair
		}
		credential.certificate = &pair
	}
	if !validHeader(status.Token.Reveal()) {
		return nil, ErrToken
	}
	return credential, nil
}

// validHeader reports whether net/http sends text as a header value.
func validHeader(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '\t' && (c < ' ' || c == 0x7f) {
			return false
		}
	}
	return true
}

// Token returns the bearer token; it is empty when the answer had none.
func (c *Credential) Token() redact.Text { return c.token }

// Certificate returns the client certificate with its key, nil when the answer had none. The caller must not change it.
// Leaf is set.
func (c *Credential) Certificate() *tls.Certificate { return c.certificate }

// Expires returns the expiration timestamp; the zero time is never.
func (c *Credential) Expires() time.Time { return c.expires }

// ValidAt reports whether the credential may be used at now: until the expiration timestamp, that moment included. The
// certificate's NotAfter is not looked at (KEP-541, Provider output format).
func (c *Credential) ValidAt(now time.Time) bool { return c.expires.IsZero() || !now.After(c.expires) }

// String says which parts the credential has, and its expiry.
func (c *Credential) String() string {
	text := "credential"
	if !c.token.IsEmpty() {
		text += " token=" + redact.Mark
	}
	if c.certificate != nil {
		text += fmt.Sprintf(" certificate=%x key=%s", c.certificate.Leaf.SerialNumber, redact.Mark)
	}
	if !c.expires.IsZero() {
		text += " expires=" + c.expires.Format(time.RFC3339)
	}
	return text
}

// Format writes String for every verb.
func (c *Credential) Format(state fmt.State, _ rune) { fmt.Fprint(state, c.String()) }

// LogValue returns String.
func (c *Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns String.
func (c *Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
