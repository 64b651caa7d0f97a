package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// host is what rules ask of the machine and of the pod that a container is for.
type host struct {
	sandbox      *runtimeapi.PodSandboxConfig
	rootless     bool
	capabilities []string // that the runtime can give, as CAP_NAME
}

// asked is a field that is set, with what stands around it.
type asked struct {
	value  protoreflect.Value
	field  protoreflect.FieldDescriptor
	in     protoreflect.Message // that has the field
	config protoreflect.Message // the request
	host   host
}

// The rules by path.
var (
	sandboxTable   = byPath(sandboxRules)
	containerTable = byPath(containerRules)
	updateTable    = byPath(updateRules)
)

func byPath(rules []map[string]rule) map[string]rule {
	out := map[string]rule{}
	for _, r := range rules {
		maps.Copy(out, r)
	}
	return out
}

// checkFields refuses a request that sets a field which would be ignored: the error is InvalidArgument and names every
// such field, never a value. A field that the table or this runtime's protocol does not have is one of them.
func checkFields(req protoreflect.ProtoMessage, table map[string]rule, h host) error {
	c := fieldCheck{table: table, host: h, request: req.ProtoReflect()}
	c.message(c.request, "", "")
	if len(c.faults) == 0 {
		return nil
	}
	return status.Error(codes.InvalidArgument, strings.Join(c.faults, "; "))
}

type fieldCheck struct {
	table   map[string]rule
	host    host
	request protoreflect.Message
	faults  []string
}

func (c *fieldCheck) refuse(shown, why string) {
	c.faults = append(c.faults, fmt.Sprintf("%s: not supported by this runtime: %s", shown, why))
}

// message looks at the fields that are set, in the order of the protocol.
func (c *fieldCheck) message(m protoreflect.Message, shown, path string) {
	for rest := m.GetUnknown(); len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			break // not possible: it was read as a message
		}
		rest = rest[n:]
		c.refuse(below(shown, fmt.Sprintf("field %d", number)), "it is not known")
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); m.Has(f) {
			name := string(f.Name())
			c.field(m, f, below(shown, name), below(path, name))
		}
	}
}

func below(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func (c *fieldCheck) field(m protoreflect.Message, f protoreflect.FieldDescriptor, shown, path string) {
	value := m.Get(f)
	r, there := c.table[path]
	switch {
	case there:
		c.apply(r, asked{value, f, m, c.request, c.host}, shown)
	case f.IsList() && f.Message() != nil:
		for i := range value.List().Len() {
			at, element := fmt.Sprintf("%s[%d]", shown, i), value.List().Get(i)
			if r, there := c.table[path+"[]"]; there {
				c.apply(r, asked{element, f, m, c.request, c.host}, at)
				continue
			}
			c.message(element.Message(), at, path+"[]")
		}
	case f.Message() != nil && !f.IsMap():
		c.message(value.Message(), shown, path)
	default:
		c.refuse(shown, "it is not known")
	}
}

func (c *fieldCheck) apply(r rule, a asked, shown string) {
	if r.verdict == refused || r.verdict == judged && !r.allow(a) {
		c.refuse(shown, r.why)
	}
}

// known takes the values that this runtime's protocol names.
func known(a asked) bool { return a.field.Enum().Values().ByNumber(a.value.Enum()) != nil }

func oneOf(texts ...string) func(asked) bool {
	return func(a asked) bool { return slices.Contains(texts, a.value.String()) }
}

func modes(allowed ...runtimeapi.NamespaceMode) func(asked) bool {
	return func(a asked) bool { return slices.Contains(allowed, runtimeapi.NamespaceMode(a.value.Enum())) }
}

// profiles takes a profile of those types; RuntimeDefault is the type of an empty one.
func profiles(allowed ...runtimeapi.SecurityProfile_ProfileType) func(asked) bool {
	return func(a asked) bool {
		p, ok := a.value.Message().Interface().(*runtimeapi.SecurityProfile)
		return ok && p.GetLocalhostRef() == "" && slices.Contains(allowed, p.GetProfileType())
	}
}

// hostUsers takes options that ask for the node's users.
func hostUsers(a asked) bool {
	o, ok := a.value.Message().Interface().(*runtimeapi.UserNamespace)
	return ok && o.GetMode() == runtimeapi.NamespaceMode_NODE && len(o.GetUids()) == 0 && len(o.GetGids()) == 0
}

// unmappedPort takes a port that needs no mapping: none of the node's, or the same where the pod has the node's
// network.
func unmappedPort(a asked) bool {
	p, ok := a.value.Message().Interface().(*runtimeapi.PortMapping)
	request, is := a.config.Interface().(*runtimeapi.RunPodSandboxRequest)
	node := request.GetConfig().GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE
	return ok && is && (p.GetHostPort() == 0 || node && p.GetHostPort() == p.GetContainerPort() && p.GetHostIp() == "")
}

// readOnlyAndPrivate is what CRI asks of a mount that is to be read-only all the way down.
func readOnlyAndPrivate(a asked) bool {
	m, ok := a.in.Interface().(*runtimeapi.Mount)
	return ok && m.GetReadonly() && m.GetPropagation() == runtimeapi.MountPropagation_PROPAGATION_PRIVATE
}

func rooted(a asked) bool { return !a.host.rootless }

func givable(a asked) bool {
	return everyCapability(a, func(name string) bool { return slices.Contains(a.host.capabilities, name) })
}

func droppable(a asked) bool {
	return everyCapability(a, func(name string) bool { return slices.Contains(capabilityNames, strings.TrimPrefix(name, "CAP_")) })
}

// everyCapability reports whether all names of a list are ALL or something that is.
func everyCapability(a asked, is func(name string) bool) bool {
	for i := range a.value.List().Len() {
		for _, name := range capNames([]string{a.value.List().Get(i).String()}) {
			if !is(name) {
				return false
			}
		}
	}
	return true
}

// sandboxSecurity is what the container's sandbox was made with.
func (a asked) sandboxSecurity() *runtimeapi.LinuxSandboxSecurityContext {
	return a.host.sandbox.GetLinux().GetSecurityContext()
}

func inPrivileged(a asked) bool { return a.sandboxSecurity().GetPrivileged() }

// sameNetwork and sameIPC take the sandbox's own; POD is that of the sandbox, whatever it is, and does not come here.
func sameNetwork(a asked) bool {
	return runtimeapi.NamespaceMode(a.value.Enum()) == a.sandboxSecurity().GetNamespaceOptions().GetNetwork()
}

func sameIPC(a asked) bool {
	return runtimeapi.NamespaceMode(a.value.Enum()) == a.sandboxSecurity().GetNamespaceOptions().GetIpc()
}
