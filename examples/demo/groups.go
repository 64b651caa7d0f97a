package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// groups runs the pod of KEP-3619 under both policies, with a directory that is
// private to the group that the image adds.
func groups() Scene {
	return Scene{
		Title:  "An image puts its process in a group that nobody asked for",
		Proves: "under Merge an image opens directories that the pod was not given; under Strict the process has the pod's groups and no others.",
		Play: func(ctx context.Context, s *Stage) (err error) {
			dir, err := privateDirectory()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			s.say("The pod asks for user 1000, group 1000 and group 60000. Its image has in /etc/group:")
			s.say("> %s", strings.TrimSpace(groupInImage))
			s.say("On the host there is a directory for group 50000 only: drwxrwx--- nobody 50000 private")
			for _, one := range []struct {
				pod, groups string
				policy      corev1.SupplementalGroupsPolicy
			}{
				{"groups-merge", "[1000,50000,60000]", corev1.SupplementalGroupsPolicyMerge},
				{"groups-strict", "[1000,60000]", corev1.SupplementalGroupsPolicyStrict},
			} {
				s.pause()
				s.say("supplementalGroupsPolicy: %s", one.policy)
				if err := s.runWithGroups(ctx, one.pod, dir, one.policy); err != nil {
					return err
				}
				if err := s.checkGroups(ctx, one.pod, one.groups, one.policy == corev1.SupplementalGroupsPolicyMerge); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// groupInImage is the row that the KEP's image has beside the usual ones.
const groupInImage = "group-in-image:x:50000:alice\n"

// privateDirectory makes a directory with one in it that only group 50000 may enter.
func privateDirectory() (string, error) {
	dir, err := os.MkdirTemp("", "lanyard-groups-")
	if err != nil {
		return "", err
	}
	const nobody, group = 65534, 50000
	private := filepath.Join(dir, "private")
	note := filepath.Join(private, "note")
	for _, step := range []func() error{
		func() error { return os.Chmod(dir, 0o755) },
		func() error { return os.Mkdir(private, 0o770) },
		func() error { return os.WriteFile(note, []byte("for group 50000 only\n"), 0o640) },
		func() error { return os.Chown(note, nobody, group) },
		func() error { return os.Chown(private, nobody, group) },
		func() error { return os.Chmod(private, 0o770) },
	} {
		if err := step(); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

func (s *Stage) runWithGroups(ctx context.Context, name, dir string, policy corev1.SupplementalGroupsPolicy) error {
	image, err := s.Stack.Image("groups:v1", testimage.Spec{
		Files: map[string]string{
			"/etc/passwd": "root:x:0:0::/:\nalice:x:1000:1000::/:\n",
			"/etc/group":  "root:x:0:\nalice:x:1000:\n" + groupInImage,
		},
		Config: v1.Config{User: "alice", Entrypoint: []string{testimage.Program}},
	})
	if err != nil {
		return err
	}
	alice := int64(1000)
	return s.runReady(ctx, name, corev1.PodSpec{
		NodeName: "node-1",
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: &alice, RunAsGroup: &alice, SupplementalGroups: []int64{60000}, SupplementalGroupsPolicy: &policy,
		},
		Volumes: []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}}},
		Containers: []corev1.Container{{
			Name: "app", Image: image, Args: []string{"sleep"},
			VolumeMounts: []corev1.VolumeMount{{Name: "shared", MountPath: "/mnt"}},
		}},
	})
}

// checkGroups compares what the pod's status says, and whether its processes get at
// the private directory.
func (s *Stage) checkGroups(ctx context.Context, pod, want string, reads bool) error {
	user, err := s.kubectl(ctx, "alice", "get", "pod", pod, "-o", "jsonpath={.status.containerStatuses[0].user.linux.supplementalGroups}")
	if err != nil {
		return err
	}
	s.quote(user.out)
	if err := s.check(user.out == want, "the pod's status says that its process is in %s", want); err != nil {
		return err
	}
	got, err := s.kubectl(ctx, "alice", "exec", pod, "--", testimage.Program, "read", "/mnt/private/note")
	if err != nil {
		return err
	}
	if reads {
		s.quote(got.out)
		return s.check(got.code == 0, "it reads what is private to group 50000")
	}
	s.quote(got.err)
	return s.check(got.code != 0 && strings.Contains(got.err, "permission denied"), "it does not get at what is private to group 50000")
}
