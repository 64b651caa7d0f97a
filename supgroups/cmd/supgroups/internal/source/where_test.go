package source

import "testing"

func TestWhere(t *testing.T) {
	t.Run("GRP-18 what is local says so", func(t *testing.T) {
		for text, local := range map[string]bool{
			"/a": true, "./a": true, "../a": true, ".": true, "..": true, "./": true, "//a": true,
			"": false, "a": false, "a.tar": false, "a/b": false, ".a/b": false, "..a": false, "...": false, "~/a": false,
			"oci:a": false, "docker-archive:a.tar": false, "file:///a": false, "registry.example/a:1": false, "localhost:5000/../a": false,
		} {
			if got := Given(text); got.local != local || got.String() != text {
				t.Errorf("Given(%q) = %+v, want local %v", text, got, local)
			}
			if got := Reference(text); got.local || got.mistaken() || got.String() != text {
				t.Errorf("Reference(%q) = %+v, want a reference", text, got)
			}
		}
	})
}
