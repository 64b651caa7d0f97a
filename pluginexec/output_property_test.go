package pluginexec

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/redact"
)

// chunks are what a process may write, one write each: small ones, and some around the bounds.
func chunks() *rapid.Generator[[][]byte] {
	sizes := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(MaxStderr-20, MaxStderr+20), rapid.IntRange(0, 3*MaxStderr))
	chunk := rapid.Custom(func(t *rapid.T) []byte {
		data := make([]byte, sizes.Draw(t, "size"))
		for i := range data {
			data[i] = byte(i*7 + len(data))
		}
		return data
	})
	return rapid.SliceOfN(chunk, 0, 6)
}

func TestOutputLaws(t *testing.T) {
	t.Run("ECR-25 the tail is the end of all that was written, however it was cut", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var got tail
			var all []byte
			for _, chunk := range chunks().Draw(t, "chunks") {
				if n, err := got.Write(chunk); n != len(chunk) || err != nil {
					t.Fatalf("Write of %d bytes = %d, %v", len(chunk), n, err)
				}
				all = append(all, chunk...)
			}
			if want := all[max(0, len(all)-MaxStderr):]; !bytes.Equal(got.data, want) {
				t.Fatalf("%d bytes are kept of %d, want the last %d", len(got.data), len(all), len(want))
			}
		})
	})
	t.Run("ECR-25 output is whole up to the limit; past it nothing is kept and the process is ended once", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			ended := 0
			got := bounded{limit: rapid.Int64Range(0, 3*MaxStderr).Draw(t, "limit"), overflow: func() { ended++ }}
			var all []byte
			for _, chunk := range chunks().Draw(t, "chunks") {
				if n, err := got.ReadFrom(bytes.NewReader(chunk)); n != int64(len(chunk)) || err != nil {
					t.Fatalf("ReadFrom of %d bytes = %d, %v", len(chunk), n, err)
				}
				all = append(all, chunk...)
			}
			switch over := int64(len(all)) > got.limit; {
			case over && (!got.over || ended != 1 || got.data != nil):
				t.Fatalf("%d bytes of at most %d: over = %v, ended %d times, %d kept", len(all), got.limit, got.over, ended, len(got.data))
			case !over && (got.over || ended != 0 || !bytes.Equal(got.data, all)):
				t.Fatalf("%d bytes of at most %d: over = %v, ended %d times, %d kept", len(all), got.limit, got.over, ended, len(got.data))
			}
		})
	})
}

func TestShownLaws(t *testing.T) {
	t.Run("MOD-9 two commands that differ in arguments, environment and input show the same", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			verb := rapid.SampledFrom([]string{"%v", "%+v", "%s", "%q", "%x", "%X", "%d", "%t"}).Draw(t, "verb")
			command := func(name string) Command {
				texts := rapid.SliceOfN(rapid.String(), 2, 2).Draw(t, name)
				return Command{Path: "/plugin", Args: redact.Texts(texts...), Env: redact.Texts(texts...), Stdin: redact.NewBytes([]byte(texts[0]))}
			}
			if a, b := fmt.Sprintf(verb, command("one")), fmt.Sprintf(verb, command("other")); a != b {
				t.Fatalf("%s shows %s and %s", verb, a, b)
			}
		})
	})
}
