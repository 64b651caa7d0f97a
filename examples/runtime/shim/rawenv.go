package shim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// An environment value may be any bytes, but an OCI process is JSON, and in JSON they cannot be said: runc would turn
// them into replacement characters, without a word. A process with such a value is therefore started by way of this
// program, inside the container: runc starts it from a descriptor, so the image needs nothing, it takes the environment
// from the next descriptor and becomes the wanted command. Both are sealed memory, nothing of the host's that could be
// written to.
const (
	execFile = 3
	envFile  = 4
)

// rawFiles returns the two files for a process whose environment is in the file at path.
func rawFiles(path string) ([]*os.File, error) {
	program, err := sealed("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	env, err := sealed(path)
	if err != nil {
		program.Close()
		return nil, err
	}
	return []*os.File{program, env}, nil
}

// sealed copies a file into memory that nobody can change any more.
func sealed(path string) (*os.File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("lanyard", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3, where all such files are executable
		fd, err = unix.MemfdCreate("lanyard", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	if _, err := f.WriteAt(b, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE); err != nil {
		return nil, errors.Join(fmt.Errorf("seal: %w", err), f.Close())
	}
	return f, nil
}

// become is what runs inside the container: it becomes the command with the raw environment. It returns only errors.
func become(command []string) error {
	f := os.NewFile(envFile, "environment")
	info, err := f.Stat()
	if err != nil {
		return err
	}
	raw := make([]byte, info.Size())
	if _, err := f.ReadAt(raw, 0); err != nil {
		return err
	}
	unix.CloseOnExec(execFile)
	unix.CloseOnExec(envFile)
	env := environ(raw)
	path, err := lookUp(command[0], env)
	if err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, command, env)}
}

// environ splits the environment and adds the home directory that runc looked up, unless there is one.
func environ(raw []byte) (env []string) {
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(raw, []byte{0}), []byte{0}) {
		if string(entry) != "HOME=" {
			env = append(env, string(entry))
		}
	}
	if home, ok := os.LookupEnv("HOME"); ok && value(env, "HOME") == "" {
		env = append(env, "HOME="+home)
	}
	return env
}

// lookUp finds the command as runc would have: on the path of the new environment.
func lookUp(command string, env []string) (string, error) {
	if strings.Contains(command, "/") {
		return command, nil
	}
	for _, dir := range filepath.SplitList(value(env, "PATH")) {
		path := filepath.Join(dir, command)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}

func value(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
