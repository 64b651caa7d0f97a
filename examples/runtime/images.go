package runtime

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/supgroups/cri"
)

// PullImage fetches an image and returns its ID.
func (s *Server) PullImage(ctx context.Context, req *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	i, err := s.images.Pull(ctx, req.GetImage().GetImage(), credentials(req.GetAuth()))
	if err != nil {
		return nil, err
	}
	return &runtimeapi.PullImageResponse{ImageRef: i.ID}, nil
}

func credentials(a *runtimeapi.AuthConfig) authn.AuthConfig {
	return authn.AuthConfig{
		Username: a.GetUsername(), Password: a.GetPassword(), Auth: a.GetAuth(),
		IdentityToken: a.GetIdentityToken(), RegistryToken: a.GetRegistryToken(),
	}
}

// ImageStatus returns the image, or none if it is not there.
func (s *Server) ImageStatus(_ context.Context, req *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	i, err := s.images.Find(req.GetImage().GetImage())
	if errors.Is(err, image.ErrNotFound) {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ImageStatusResponse{Image: describeImage(i)}, nil
}

// ListImages lists all images, or the one that the filter means.
func (s *Server) ListImages(_ context.Context, req *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	resp := &runtimeapi.ListImagesResponse{}
	if wanted := req.GetFilter().GetImage().GetImage(); wanted != "" {
		if i, err := s.images.Find(wanted); err == nil {
			resp.Images = append(resp.Images, describeImage(i))
		}
		return resp, nil
	}
	for _, i := range s.images.List() {
		resp.Images = append(resp.Images, describeImage(i))
	}
	return resp, nil
}

func describeImage(i image.Image) *runtimeapi.Image {
	out := &runtimeapi.Image{
		Id: i.ID, RepoTags: i.Tags, RepoDigests: i.Digests, Size: i.Size,
		Spec: &runtimeapi.ImageSpec{Image: i.ID},
	}
	cri.SetImageUser(out, i.Config.User)
	return out
}

// RemoveImage removes the image with all its names; what containers run from stays until they are gone.
func (s *Server) RemoveImage(_ context.Context, req *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	return &runtimeapi.RemoveImageResponse{}, s.images.Remove(req.GetImage().GetImage())
}

// ImageFsInfo measures the directories of images and of containers.
func (s *Server) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest) (*runtimeapi.ImageFsInfoResponse, error) {
	images, err := usage(s.images.Dir())
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: []*runtimeapi.FilesystemUsage{images}}, nil
}

// usage counts what the directory holds. What goes away meanwhile is not counted.
func usage(dir string) (*runtimeapi.FilesystemUsage, error) {
	var bytes, inodes uint64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		inodes++
		if info, err := d.Info(); err == nil {
			bytes += uint64(info.Size())
		}
		return nil
	})
	return &runtimeapi.FilesystemUsage{
		Timestamp:  time.Now().UnixNano(),
		FsId:       &runtimeapi.FilesystemIdentifier{Mountpoint: dir},
		UsedBytes:  &runtimeapi.UInt64Value{Value: bytes},
		InodesUsed: &runtimeapi.UInt64Value{Value: inodes},
	}, err
}
