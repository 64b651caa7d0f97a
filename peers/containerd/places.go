package containerd

// Module is containerd's module, Main its command within.
const (
	Module = "github.com/containerd/containerd/v2"
	Main   = Module + "/cmd/containerd"
)

const ours = "github.com/lanyard-dev/lanyard/"

// Patches returns what is inserted into containerd, in the order of a session's way through it.
func Patches() []Patch {
	return []Patch{
		{
			File:    "internal/cri/server/container_exec.go",
			Imports: []Import{{"execenv", ours + "execaudit/streaming"}},
			Places: []Place{{
				"(*criService).Exec", BeforeCall("c.streamServer.GetExec"), "read field 7, check it, and send it along in the container ID",
				`	if r, err = execenv.PackJSON(r); err != nil {
		return nil, err
	}
`,
			}},
		},
		{
			File:    "internal/cri/server/streaming.go",
			Imports: []Import{{"execenv", ours + "execaudit/streaming"}},
			Places: []Place{
				{
					"(*streamRuntime).Exec", BeforeCall("s.c.execInContainer"), "take it out again",
					`	containerID, env, err := execenv.Unpack(containerID)
	if err != nil {
		return err
	}
`,
				},
				{"(*streamRuntime).Exec", LastElement("execOptions"), "hand it on", "\t\tenv:    env,\n"},
			},
		},
		{
			File:    "internal/cri/server/container_execsync.go",
			Imports: []Import{{"", ours + "envprecedence"}},
			Places: []Place{
				{"execOptions", LastField(), "carry it; `ExecSync` never sets it", "\tenv     []string // of ExecRequest.envs\n"},
				{
					"(*criService).execInternal", AfterIf("opts.tty", "oci.WithEnv"), "merge it over the container's and over `TERM`",
					`	if len(opts.env) > 0 {
		baseline, _ := envprecedence.Prepare(pspec.Env, envprecedence.PlatformLinux)
		if pspec.Env, err = baseline.Merge(nil, opts.env); err != nil {
			return nil, fmt.Errorf("environment of the exec: %w", err)
		}
	}
`,
				},
			},
		},
		{
			File:    "internal/cri/server/status.go",
			Imports: []Import{{"", ours + "execaudit/negotiate"}},
			Places: []Place{{
				"(*criService).Status", LastElement("[]*runtime.RuntimeCondition"), "say so",
				"\t\t\tnegotiate.Condition(true),\n",
			}},
		},
	}
}
