package front

// Call is oci.Call, which describes it.
type Call struct {
	Command, ID          string
	Rest                 []string
	Root, Log, LogFormat string
	Process, PIDFile     string
	Bundle               string
}

// globalTakesValue reports whether an option of runc 1.1 to 1.5 or crun 1.8 that stands before the command takes a value;
// all others are switches.
func globalTakesValue(name string) bool {
	switch name {
	case "log", "log-format", "root", "rootless", "criu", "cgroup-manager":
		return true
	}
	return false
}

// optionTakesValue is the same for those behind the command.
func optionTakesValue(name string) bool {
	switch name {
	case "process", "p", "pid-file", "bundle", "b", "console-socket", "pidfd-socket", "cwd", "env", "e", "user", "u", "additional-gids", "g",
		"process-label", "apparmor", "cap", "c", "preserve-fds", "cgroup", "config", "f":
		return true
	}
	return false
}

// ParseCall is oci.ParseCall, which describes it.
func ParseCall(args []string) Call {
	var c Call
	rest := options(args, globalTakesValue, func(name, value string) {
		switch name {
		case "root":
			c.Root = value
		case "log":
			c.Log = value
		case "log-format":
			c.LogFormat = value
		}
	})
	rest = fromExec(rest)
	if len(rest) == 0 {
		return c
	}
	c.Command = rest[0]
	rest = options(rest[1:], optionTakesValue, func(name, value string) {
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

// fromExec returns the arguments from exec on, if they begin with something that is no command: the value of an option
// that is newer than this program.
func fromExec(args []string) []string {
	if len(args) == 0 || command(args[0]) {
		return args
	}
	for i, arg := range args {
		if arg == "exec" {
			return args[i:]
		}
	}
	return args
}

// command reports whether a word is a command of runc's or crun's.
func command(word string) bool {
	switch word {
	case "checkpoint", "create", "delete", "events", "exec", "features", "kill", "list", "mounts", "pause", "ps", "restore", "resume", "run",
		"spec", "start", "state", "update", "help", "h":
		return true
	}
	return false
}

// options tells set each option that has a value, and returns the arguments behind the options.
func options(args []string, takesValue func(string) bool, set func(name, value string)) []string {
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' {
			return args
		}
		args = args[1:]
		if arg == "--" {
			return args
		}
		name, value, given := cut(arg)
		if !takesValue(name) && arg[1] != '-' {
			name, value, given = cluster(takesValue, arg[1:])
		}
		switch {
		case !takesValue(name):
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
func cluster(takesValue func(string) bool, letters string) (name, value string, given bool) {
	for i := range letters {
		if letter := letters[i : i+1]; takesValue(letter) {
			return letter, letters[i+1:], i+1 < len(letters)
		}
	}
	return "", "", false
}

// cut takes an option's dashes off, and its value if it has one behind an equals sign.
func cut(option string) (name, value string, given bool) {
	option = option[1:]
	if option[0] == '-' {
		option = option[1:]
	}
	for i := range len(option) {
		if option[i] == '=' {
			return option[:i], option[i+1:], true
		}
	}
	return option, "", false
}
