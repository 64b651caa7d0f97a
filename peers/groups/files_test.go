package groups_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// corpus is a passwd and a group file of the same number of rows. Each group has eleven members or so; the target, in
// the middle of passwd, is in sixteen groups wherever there are that many.
type corpus struct {
	passwd, group []byte
	name          string
	uid           int64
}

const targetGroups = 16

// toUser returns the part of passwd before the user's row.
func (c corpus) toUser() []byte {
	return c.passwd[:bytes.Index(c.passwd, []byte(c.name+":"))]
}

func makeCorpus(rows int) corpus {
	target := rows / 2
	c := corpus{name: fmt.Sprintf("user%d", target), uid: int64(1000 + target)}
	var passwd, group bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&passwd, "user%d:x:%d:%d:User Number %d:/home/user%d:/bin/sh\n", i, 1000+i, 1000+i, i, i)
		fmt.Fprintf(&group, "group%d:x:%d:", i, 1000+i)
		for m := range 5 {
			fmt.Fprintf(&group, "user%d,", (i*7+m*131+target+1)%rows)
		}
		if i%max(rows/targetGroups, 1) == 0 {
			group.WriteString(c.name)
		} else {
			fmt.Fprintf(&group, "user%d", (target+1)%rows)
		}
		group.WriteByte('\n')
	}
	c.passwd, c.group = passwd.Bytes(), group.Bytes()
	return c
}

// unpack writes the files below a new root directory.
func unpack(tb testing.TB, passwd, group []byte) (root string) {
	tb.Helper()
	root = tb.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		tb.Fatal(err)
	}
	for name, data := range map[string][]byte{"passwd": passwd, "group": group} {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, "etc", name), data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}
