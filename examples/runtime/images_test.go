package runtime_test

import (
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// TestImages runs against both runtimes, with equal expectations.
func TestImages(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		t.Run("STK-2 pull, status with the image's user, list, remove", func(t *testing.T) {
			for user, want := range map[string]*runtimeapi.Image{
				"alice":   {Username: "alice"},
				"1000":    {Uid: &runtimeapi.Int64Value{Value: 1000}},
				"7:8":     {Uid: &runtimeapi.Int64Value{Value: 7}},
				"":        {},
				"bob:bin": {Username: "bob"},
			} {
				ref := push(t, testimage.Spec{Config: v1.Config{User: user}})
				id := n.Pull(t, ref)
				got := imageStatus(t, n, ref)
				if got.GetId() != id || got.GetUid().GetValue() != want.GetUid().GetValue() || (got.GetUid() == nil) != (want.GetUid() == nil) || got.GetUsername() != want.GetUsername() {
					t.Errorf("user %q: status = %v, want %v", user, got, want)
				}
				if !slices.Contains(got.GetRepoTags(), ref) || len(got.GetRepoDigests()) != 1 || got.GetSize() == 0 {
					t.Errorf("status = %v, want tag %s, one digest, a size", got, ref)
				}
				if byID := imageStatus(t, n, id); byID.GetId() != id {
					t.Errorf("status by ID = %v", byID)
				}
				if !slices.Contains(imageIDs(t, n), id) {
					t.Errorf("the list lacks %s", id)
				}
				if _, err := n.Images.RemoveImage(runtimetest.Context(t), &runtimeapi.RemoveImageRequest{Image: &runtimeapi.ImageSpec{Image: id}}); err != nil {
					t.Error(err)
				}
				if got := imageStatus(t, n, ref); got != nil {
					t.Errorf("status after removal = %v", got)
				}
			}
		})
		t.Run("STK-2 what a registry does not have is NotFound", func(t *testing.T) {
			ref := push(t, testimage.Spec{})
			_, err := n.Images.PullImage(runtimetest.Context(t), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: ref + "-not"}})
			if status.Code(err) != codes.NotFound {
				t.Errorf("PullImage = %v, want NotFound", err)
			}
		})
		t.Run("STK-2 the image's file system is measured", func(t *testing.T) {
			n.Pull(t, push(t, testimage.Spec{}))
			runtimetest.Eventually(t, "it has bytes", func() bool {
				resp, err := n.Images.ImageFsInfo(runtimetest.Context(t), &runtimeapi.ImageFsInfoRequest{})
				return err == nil && len(resp.GetImageFilesystems()) == 1 && resp.GetImageFilesystems()[0].GetUsedBytes().GetValue() > 0
			})
		})
	})
}

func imageStatus(t *testing.T, n node, ref string) *runtimeapi.Image {
	t.Helper()
	resp, err := n.Images.ImageStatus(runtimetest.Context(t), &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetImage()
}

func imageIDs(t *testing.T, n node) (ids []string) {
	t.Helper()
	resp, err := n.Images.ListImages(runtimetest.Context(t), &runtimeapi.ListImagesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range resp.GetImages() {
		ids = append(ids, i.GetId())
	}
	return ids
}
