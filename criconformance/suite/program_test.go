package suite_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// staticProgram writes the beginning of a static Linux program, as much as the suite looks at, and returns its path.
func staticProgram(t *testing.T) string {
	t.Helper()
	header := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Shentsize: 64,
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, header); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, b.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
