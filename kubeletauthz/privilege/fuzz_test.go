package privilege_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
)

func FuzzParseCall(f *testing.F) {
	for _, c := range callCases {
		f.Add(c.text)
	}
	for _, text := range notCalls {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := privilege.ParseCall(text)
		if err != nil {
			return
		}
		if again, err := privilege.ParseCall(c.String()); err != nil || again != c {
			t.Errorf("ParseCall(%q) = %+v, which reads back as %+v, %v", text, c, again, err)
		}
	})
}
