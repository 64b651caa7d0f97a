package pluginsdk

import (
	"errors"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
)

func FuzzReadRequest(f *testing.F) {
	for _, version := range []string{execcredential.V1, execcredential.V1Beta1, execcredential.V1Alpha1} {
		info, err := execcredential.Info(execcredential.ExecConfig{APIVersion: version}, nil, true)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(info)
	}
	f.Add("")
	f.Add("{}")
	f.Fuzz(func(t *testing.T, info string) {
		request, err := readRequest(info)
		if (info == "") != errors.Is(err, ErrNoInfo) {
			t.Fatalf("readRequest(%q) error = %v, want ErrNoInfo for no information alone", info, err)
		}
		if err == nil && request.APIVersion == "" {
			t.Fatalf("readRequest(%q) = a request without a version", info)
		}
	})
}

func FuzzDecodeCacheFile(f *testing.F) {
	f.Add([]byte(loginlab.Answer(execcredential.V1, "t", "", "", time.Now())))
	f.Add([]byte(loginlab.Answer(execcredential.V1Beta1, "", "c", "k", time.Time{})))
	f.Fuzz(func(t *testing.T, data []byte) {
		status, err := decodeCacheFile(data)
		if err != nil {
			return
		}
		text, err := execcredential.EncodeAnswer(execcredential.V1, status)
		if err != nil {
			return // a year beyond RFC 3339 is read and cannot be written
		}
		again, err := decodeCacheFile([]byte(text))
		if err != nil || !again.Token.Equal(status.Token) || again.ClientCertificateData != status.ClientCertificateData {
			t.Fatalf("decodeCacheFile(EncodeAnswer) = %v, %v", again, err)
		}
	})
}
