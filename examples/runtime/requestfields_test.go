package runtime

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// requestTables are the requests that make or change something, each with its table.
var requestTables = []struct {
	request func() protoreflect.ProtoMessage
	rules   []map[string]rule
}{
	{func() protoreflect.ProtoMessage { return &runtimeapi.RunPodSandboxRequest{} }, sandboxRules},
	{func() protoreflect.ProtoMessage { return &runtimeapi.CreateContainerRequest{} }, containerRules},
	{func() protoreflect.ProtoMessage { return &runtimeapi.UpdateContainerResourcesRequest{} }, updateRules},
}

// TestRequestTablesAreComplete walks the protocol: a field that it gained has no rule, and one that it lost leaves a
// rule.
func TestRequestTablesAreComplete(t *testing.T) {
	for _, c := range requestTables {
		m := c.request().ProtoReflect().Descriptor()
		t.Run("STK-10 every field of "+string(m.Name())+" has a rule, and every rule a field", func(t *testing.T) {
			table, used, count := byPath(c.rules), map[string]bool{}, 0
			for _, rules := range c.rules {
				count += len(rules)
			}
			if count != len(table) {
				t.Errorf("%d rules for %d paths, want one for each", count, len(table))
			}
			walkMessage(t, m, "", table, used)
			for path := range table {
				if !used[path] {
					t.Errorf("the protocol has no field %s, or a rule above it decides", path)
				}
			}
		})
	}
}

func walkMessage(t *testing.T, m protoreflect.MessageDescriptor, path string, table map[string]rule, used map[string]bool) {
	t.Helper()
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		at := below(path, string(f.Name()))
		if f.IsList() && f.Message() != nil {
			if _, there := table[at]; !there {
				at += "[]"
			}
		}
		r, there := table[at]
		switch {
		case there:
			used[at] = true
			if r.verdict == honoured && f.Message() != nil && !f.IsMap() {
				t.Errorf("%s is honoured as a whole: what the protocol adds to it would be, too", at)
			}
		case f.Message() != nil && !f.IsMap():
			walkMessage(t, f.Message(), at, table, used)
		default:
			t.Errorf("%s is not in the table", at)
		}
	}
}

// setField sets the field of a path to something that is not zero, and returns the path with its indices.
func setField(m protoreflect.Message, path string) string {
	name, rest, more := strings.Cut(path, ".")
	f := m.Descriptor().Fields().ByName(protoreflect.Name(strings.TrimSuffix(name, "[]")))
	switch {
	case f.IsMap():
		value := m.Mutable(f).Map().NewValue()
		m.Mutable(f).Map().Set(protoreflect.ValueOfString("k").MapKey(), value)
	case f.IsList():
		list := m.Mutable(f).List()
		if f.Message() == nil {
			list.Append(someScalar(f))
			break
		}
		element := list.AppendMutable().Message()
		if more {
			return fmt.Sprintf("%s[0].%s", f.Name(), setField(element, rest))
		}
		if strings.HasSuffix(name, "[]") {
			name = fmt.Sprintf("%s[0]", f.Name())
			setAll(element)
		}
	case f.Message() != nil:
		inner := m.Mutable(f).Message()
		if more {
			return name + "." + setField(inner, rest)
		}
		setAll(inner)
	default:
		m.Set(f, someScalar(f))
	}
	return name
}

// setAll sets every scalar of a message.
func setAll(m protoreflect.Message) {
	for i := range m.Descriptor().Fields().Len() {
		if f := m.Descriptor().Fields().Get(i); f.Message() == nil && !f.IsList() {
			m.Set(f, someScalar(f))
		}
	}
}

func someScalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(99)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(7)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(7)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(7)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("x"))
	}
	return protoreflect.ValueOfString("x")
}

// TestRequestFields sets every field that can be refused, alone: the request is refused for it, by name.
func TestRequestFields(t *testing.T) {
	for _, c := range requestTables {
		table := byPath(c.rules)
		for path, r := range table {
			req := c.request()
			name := string(req.ProtoReflect().Descriptor().Name())
			shown := setField(req.ProtoReflect(), path)
			// The least host: rootless, in a sandbox that asked for nothing, without capabilities.
			err := checkFields(req, table, host{rootless: true})
			if r.verdict == honoured || r.verdict == ignored {
				if err != nil {
					t.Errorf("%s with %s: %v, want it taken", name, shown, err)
				}
				continue
			}
			t.Run("STK-10 "+name+" with "+shown+" is refused", func(t *testing.T) {
				if said := status.Convert(err); said.Code() != codes.InvalidArgument || !strings.HasPrefix(said.Message(), shown) || strings.Contains(said.Message(), ";") {
					t.Errorf("checkFields = %v, want InvalidArgument for %s alone", err, shown)
				}
			})
		}
	}
}

func TestUnknownRequestField(t *testing.T) {
	t.Run("STK-10 a field of a newer protocol is refused by its place and number", func(t *testing.T) {
		sc := &runtimeapi.LinuxContainerSecurityContext{}
		sc.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
		req := &runtimeapi.CreateContainerRequest{Config: &runtimeapi.ContainerConfig{Linux: &runtimeapi.LinuxContainerConfig{SecurityContext: sc}}}
		err := checkFields(req, containerTable, host{})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "config.linux.security_context.field 99:") {
			t.Errorf("checkFields = %v, want InvalidArgument for field 99", err)
		}
	})
}

// TestTakenRequests has what a kubelet sends for a pod that asks for nothing special, and what is as good.
func TestTakenRequests(t *testing.T) {
	profile := func(kind runtimeapi.SecurityProfile_ProfileType) *runtimeapi.SecurityProfile {
		return &runtimeapi.SecurityProfile{ProfileType: kind}
	}
	const runtimeDefault, unconfined = runtimeapi.SecurityProfile_RuntimeDefault, runtimeapi.SecurityProfile_Unconfined
	onHost := &runtimeapi.NamespaceOption{
		Network: runtimeapi.NamespaceMode_NODE, Ipc: runtimeapi.NamespaceMode_NODE,
		UsernsOptions: &runtimeapi.UserNamespace{Mode: runtimeapi.NamespaceMode_NODE},
	}
	sandbox := &runtimeapi.PodSandboxConfig{
		PortMappings: []*runtimeapi.PortMapping{{ContainerPort: 80}, {ContainerPort: 81, HostPort: 81}},
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			Overhead: &runtimeapi.LinuxContainerResources{}, Resources: &runtimeapi.LinuxContainerResources{CpuShares: 2},
			SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{NamespaceOptions: onHost, Privileged: true, Seccomp: profile(runtimeDefault)},
		},
	}
	h := host{sandbox: sandbox, capabilities: []string{"CAP_NET_ADMIN"}}
	container := func(sc *runtimeapi.LinuxContainerSecurityContext) *runtimeapi.CreateContainerRequest {
		return &runtimeapi.CreateContainerRequest{SandboxConfig: sandbox, Config: &runtimeapi.ContainerConfig{Linux: &runtimeapi.LinuxContainerConfig{
			Resources: &runtimeapi.LinuxContainerResources{CpuShares: 2, MemoryLimitInBytes: 1 << 20}, SecurityContext: sc,
		}}}
	}
	t.Run("STK-10 a sandbox of a real kubelet is taken", func(t *testing.T) {
		if err := checkFields(&runtimeapi.RunPodSandboxRequest{Config: sandbox}, sandboxTable, host{}); err != nil {
			t.Errorf("checkFields = %v, want nil", err)
		}
	})
	for name, sc := range map[string]*runtimeapi.LinuxContainerSecurityContext{
		"no profile":                     {},
		"Unconfined":                     {Seccomp: profile(unconfined), Apparmor: profile(unconfined), SeccompProfilePath: "unconfined"},
		"the sandbox's namespaces":       {NamespaceOptions: onHost},
		"privileged in such a sandbox":   {Privileged: true},
		"capabilities in any words":      {Capabilities: &runtimeapi.Capability{AddCapabilities: []string{"net_admin", "CAP_NET_ADMIN", "ALL"}, DropCapabilities: []string{"all", "Chown"}}},
		"masked and read-only paths":     {MaskedPaths: []string{"/proc/kcore"}, ReadonlyPaths: []string{"/proc/sys"}},
		"the pod's network, whatever it": {NamespaceOptions: &runtimeapi.NamespaceOption{}},
	} {
		t.Run("STK-10 a container with "+name+" is taken", func(t *testing.T) {
			if err := checkFields(container(sc), containerTable, h); err != nil {
				t.Errorf("checkFields = %v, want nil", err)
			}
		})
	}
	for name, sc := range map[string]*runtimeapi.LinuxContainerSecurityContext{
		"seccomp":                         {Seccomp: profile(runtimeDefault)},
		"apparmor":                        {Apparmor: profile(runtimeDefault)},
		"seccomp_profile_path":            {SeccompProfilePath: "runtime/default"},
		"namespace_options.userns":        {NamespaceOptions: &runtimeapi.NamespaceOption{UsernsOptions: &runtimeapi.UserNamespace{}}},
		"capabilities.drop_capabilities":  {Capabilities: &runtimeapi.Capability{DropCapabilities: []string{"NET_RAWW"}}},
		"capabilities.drop_capabilities ": {Capabilities: &runtimeapi.Capability{DropCapabilities: []string{"CAP_ALL"}}},
		"capabilities.add_capabilities":   {Capabilities: &runtimeapi.Capability{AddCapabilities: []string{"SYS_ADMIN"}}},
	} {
		t.Run("STK-10 a container with "+name+" is refused", func(t *testing.T) {
			err := checkFields(container(sc), containerTable, h)
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "config.linux.security_context."+strings.TrimSpace(name)) {
				t.Errorf("checkFields = %v, want InvalidArgument for %s", err, name)
			}
		})
	}
	t.Run("STK-10 a privileged container needs a sandbox that was made for one", func(t *testing.T) {
		if err := checkFields(container(&runtimeapi.LinuxContainerSecurityContext{Privileged: true}), containerTable, host{}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("checkFields = %v, want InvalidArgument", err)
		}
	})
}
