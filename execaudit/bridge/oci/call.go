package oci

import "strings"

// Call is what a runtime was called to do, as far as the bridge needs to know. What is not given is empty.
type Call struct {
	// Command is the runtime's command, such as "exec" or "create".
	Command string
	// ID is the container's: the first argument of the command that is not an option.
	ID string
	// Rest is what follows the ID.
	Rest []string
	// Root is the directory of the runtime's state, Log the file that it writes errors to, LogFormat "json" or "text".
	Root, Log, LogFormat string
	// Process is the process file, PIDFile the file that will hold the process's ID.
	Process, PIDFile string
	// Bundle is the bundle's directory, of create and run.
	Bundle string
}

// withValue are the options of runc 1.1 to 1.5 and crun 1.8 that take a value, before the command and behind it. All
// others are switches.
const (
	globalsWithValue = " log log-format root rootless criu cgroup-manager "
	optionsWithValue = " process p pid-file bundle b console-socket pidfd-socket cwd env e user u additional-gids g process-label apparmor cap c preserve-fds cgroup config f "
)

// ParseCall reads the arguments behind the program's name as runc and crun do: options as --x y, --x=y, -x y and -p y,
// in crun's form -py too; the last of several wins, "--" ends them, and the first other argument does. It never fails:
// what the runtime would refuse comes out as far as it was understood, and is for the runtime to refuse.
func ParseCall(args []string) Call {
	var c Call
	rest := options(args, globalsWithValue, func(name, value string) {
		switch name {
		case "root":
			c.Root = value
		case "log":
			c.Log = value
		case "log-format":
			c.LogFormat = value
		}
	})
	if len(rest) == 0 {
		return c
	}
	c.Command = rest[0]
	rest = options(rest[1:], optionsWithValue, func(name, value string) {
		switch name {
		case "process", "p":
			c.Process = value
		case "pid-file":
			c.PIDFile = value
		case "bundle", "b":
			c.Bundle = value
		}
	})
	if len(rest) > 0 {
		c.ID, c.Rest = rest[0], rest[1:]
	}
	return c
}

// options tells set each option that has a value, and returns the arguments behind the options.
func options(args []string, valued string, set func(name, value string)) []string {
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' {
			return args
		}
		args = args[1:]
		if arg == "--" {
			return args
		}
		name, value, given := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if !takesValue(valued, name) && arg[1] != '-' {
			name, value, given = cluster(valued, arg[1:])
		}
		switch {
		case !takesValue(valued, name):
		case given:
			set(name, value)
		case len(args) > 0:
			set(name, args[0])
			args = args[1:]
		}
	}
	return args
}

// cluster reads crun's -dpFILE: switches, and at most one option with its value. A word such as -process is none.
func cluster(valued, letters string) (name, value string, given bool) {
	for i := range letters {
		if letter := letters[i : i+1]; takesValue(valued, letter) {
			return letter, letters[i+1:], i+1 < len(letters)
		}
	}
	return "", "", false
}

func takesValue(valued, name string) bool {
	return name != "" && strings.Contains(valued, " "+name+" ")
}
