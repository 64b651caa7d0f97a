package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
)

// Unasked is one group of a container that nobody asked for.
type Unasked struct {
	ID int64 `json:"id"`
	// ImageName is the group's name in the image, untrusted; "" when only the status shows the group.
	ImageName string `json:"imageName,omitempty"`
	// Predicted says that the image gives the group; Strict takes it away.
	Predicted bool `json:"predicted"`
	// Observed says that the container's status shows it.
	Observed bool `json:"observed"`
}

// Finding is one container with groups that nobody asked for.
type Finding struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Container string    `json:"container"`
	Image     string    `json:"image"`
	Policy    string    `json:"policy"`
	Groups    []Unasked `json:"groups"` // ascending
}

// Unread is a container whose groups could not be predicted.
type Unread struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	Image     string `json:"image"`
	Error     string `json:"error"`
}

// Summary is the result of a scan.
type Summary struct {
	Pods       int `json:"pods"`
	PolicySet  int `json:"podsWithPolicy"` // pods that set supplementalGroupsPolicy
	Strict     int `json:"podsStrict"`
	Containers int `json:"containers"`
	// Findings and Unread are in the order of namespace, pod and container.
	Findings []Finding `json:"findings"`
	Unread   []Unread  `json:"unread"`
	// TakenAway are the distinct groups that Strict would take from the containers of Findings, ascending.
	TakenAway []int64 `json:"strictTakesAway"`
}

// Scanner collects containers and then looks at their images.
type Scanner struct {
	// Open opens an image; it is called once for each image, from several goroutines.
	Open func(ctx context.Context, image source.Where) (*source.Image, error)
	// Locate, if set, may change where a container's image is looked for.
	Locate func(*Container)
	// Progress, if set, is called after each image, from one goroutine at a time.
	Progress func(done, images int)

	summary    Summary
	containers []Container
}

// workers is how many images are looked at together.
const workers = 4

// Add takes one pod.
func (s *Scanner) Add(pod *corev1.Pod) {
	s.summary.Pods++
	if sc := pod.Spec.SecurityContext; sc != nil && sc.SupplementalGroupsPolicy != nil {
		s.summary.PolicySet++
		if *sc.SupplementalGroupsPolicy == corev1.SupplementalGroupsPolicyStrict {
			s.summary.Strict++
		}
	}
	for _, c := range Containers(pod) {
		if s.Locate != nil {
			s.Locate(&c)
		}
		s.containers = append(s.containers, c)
	}
}

// Run looks at every image once and returns the summary. An image that cannot be read is not an error: its containers
// are in Unread, and in Findings too when their status shows enough.
func (s *Scanner) Run(ctx context.Context) Summary {
	s.summary.Containers = len(s.containers)
	s.summary.Findings, s.summary.Unread, s.summary.TakenAway = []Finding{}, []Unread{}, []int64{}
	byImage := map[source.Where][]*Container{}
	var images []source.Where
	for i := range s.containers {
		c := &s.containers[i]
		if byImage[c.Image] == nil {
			images = append(images, c.Image)
		}
		byImage[c.Image] = append(byImage[c.Image], c)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	queue, done := make(chan source.Where), 0
	for range workers {
		wg.Go(func() {
			for image := range queue {
				findings, unread := s.image(ctx, image, byImage[image])
				mu.Lock()
				s.summary.Findings = append(s.summary.Findings, findings...)
				s.summary.Unread = append(s.summary.Unread, unread...)
				if done++; s.Progress != nil {
					s.Progress(done, len(images))
				}
				mu.Unlock()
			}
		})
	}
	for _, image := range images {
		queue <- image
	}
	close(queue)
	wg.Wait()
	s.summary.sort()
	return s.summary
}

func (s *Scanner) image(ctx context.Context, where source.Where, containers []*Container) (findings []Finding, unread []Unread) {
	image, err := s.Open(ctx, where)
	if err != nil {
		err = fmt.Errorf("image: %w", err)
	}
	for _, c := range containers {
		f, err := c.look(image, err)
		if err != nil {
			unread = append(unread, Unread{Namespace: c.Namespace, Pod: c.Pod, Container: c.container.Name, Image: where.String(), Error: err.Error()})
		}
		if len(f.Groups) > 0 {
			findings = append(findings, f)
		}
	}
	return findings, unread
}

func (s *Summary) sort() {
	slices.SortFunc(s.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Container, b.Container))
	})
	slices.SortFunc(s.Unread, func(a, b Unread) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Container, b.Container))
	})
	for _, f := range s.Findings {
		for _, g := range f.Groups {
			if g.Predicted {
				s.TakenAway = append(s.TakenAway, g.ID)
			}
		}
	}
	slices.Sort(s.TakenAway)
	s.TakenAway = slices.Compact(s.TakenAway)
}
