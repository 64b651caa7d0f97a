package oci

import "github.com/lanyard-dev/lanyard/execaudit/bridge/internal/front"

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

// ParseCall reads the arguments behind the program's name as runc and crun do: options as --x y, --x=y, -x y and -p y,
// in crun's form -py too; the last of several wins, "--" ends them, and the first other argument does. If that is no
// command of theirs, it may be the value of an option that is not known here: exec is looked for behind it. ParseCall
// never fails: what the runtime would refuse comes out as far as it was understood, and is for the runtime to refuse.
func ParseCall(args []string) Call { return Call(front.ParseCall(args)) }
