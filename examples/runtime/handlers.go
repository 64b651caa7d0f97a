package runtime

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// handlers are the runtime's: the default one and, if there is one, the old one. Both start containers alike.
func (s *Server) handlers() []*runtimeapi.RuntimeHandler {
	out := []*runtimeapi.RuntimeHandler{{Name: "", Features: &runtimeapi.RuntimeHandlerFeatures{}}}
	if s.config.OldHandler != "" {
		out = append(out, &runtimeapi.RuntimeHandler{Name: s.config.OldHandler, Features: &runtimeapi.RuntimeHandlerFeatures{}})
	}
	return out
}

func (s *Server) checkHandler(name string) error {
	for _, h := range s.handlers() {
		if h.GetName() == name {
			return nil
		}
	}
	return status.Errorf(codes.InvalidArgument, "runtime_handler: there is no runtime handler %q", name)
}

// injects reports whether exec sessions in containers of the runtime handler get the environment of their request.
func (s *Server) injects(handler string) bool {
	return !s.config.PlayOld && (handler == "" || handler != s.config.OldHandler)
}

// handlerOf is the runtime handler of the container's pod.
func (s *Server) handlerOf(c *container) string {
	if b := s.sandbox(c.record.SandboxID); b != nil {
		return b.record.Handler
	}
	return ""
}
