package pulled

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// maxSecrets is how many secrets a record may hold before a check that finds one stops adding what it learns.
const maxSecrets = 100

// Options of a store. The zero value is safe.
type Options struct {
	// Now tells the time; nil is time.Now.
	Now func() time.Time
}

// Store keeps intents and records in a directory. One process uses a directory at a time. It is safe for concurrent
// use.
type Store struct {
	mu      sync.Mutex
	pulling directory
	pulled  directory
	counts  map[string]int // pulls of an image under way
	now     func() time.Time
}

// Open returns the store in dir/image_manager, which is made when it is not there, for the owner only.
func Open(dir string, options Options) (*Store, error) {
	base := filepath.Join(dir, "image_manager")
	s := &Store{
		pulling: directory(filepath.Join(base, "pulling")), pulled: directory(filepath.Join(base, "pulled")),
		counts: map[string]int{}, now: options.Now,
	}
	if s.now == nil {
		s.now = time.Now
	}
	for _, f := range []directory{s.pulling, s.pulled} {
		if err := os.MkdirAll(string(f), 0o700); err != nil {
			return nil, fmt.Errorf("pull records: %w", err)
		}
	}
	return s, nil
}

// Begin writes the intent to pull image, as the pod names it. A pull must not begin when this fails. Pulls of one image
// may overlap: each ends with Complete or Abandon.
func (s *Store) Begin(image string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.pulling.write(image, intent{Kind: intentKind, APIVersion: v1beta1, Image: image}); err != nil {
		return fmt.Errorf("record intent to pull %q: %w", image, err)
	}
	s.counts[image]++
	return nil
}

// Complete records that image was pulled as imageRef with access for those given, added to what the record has, and
// then takes the intent away. When the record cannot be written the intent stays, so that the image is known to have
// been pulled.
func (s *Store) Complete(image, imageRef string, access Access) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.add(image, imageRef, access); err != nil {
		return fmt.Errorf("record pull of %q: %w", image, err)
	}
	return s.end(image)
}

// Abandon takes the intent of a pull that failed away.
func (s *Store) Abandon(image string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(image)
}

func (s *Store) end(image string) error {
	if s.counts[image] > 1 {
		s.counts[image]--
		return nil
	}
	if err := s.pulling.remove(image); err != nil {
		return fmt.Errorf("remove intent to pull %q: %w", image, err)
	}
	delete(s.counts, image)
	return nil
}

// add merges access into the record of imageRef. A corrupt record is replaced: the others in it pull again.
func (s *Store) add(image, imageRef string, access Access) error {
	name, err := trimmed(image)
	if err != nil {
		return err
	}
	record, found, err := s.record(imageRef)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	merged, changed := record.CredentialMapping[name].Merge(access)
	if found && !changed {
		return nil
	}
	next := Record{
		Kind: recordKind, APIVersion: v1beta1, LastUpdatedTime: s.now().UTC().Truncate(time.Second),
		ImageRef: imageRef, CredentialMapping: maps.Clone(record.CredentialMapping),
	}
	if !merged.IsEmpty() {
		if next.CredentialMapping == nil {
			next.CredentialMapping = map[string]Access{}
		}
		next.CredentialMapping[name] = merged
	}
	return s.pulled.write(imageRef, next)
}

func (s *Store) record(imageRef string) (record Record, found bool, err error) {
	data, err := s.pulled.read(imageRef)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, err
	}
	record, err = DecodeRecord(data)
	if err == nil && record.ImageRef != imageRef {
		err = fmt.Errorf("%w: it is of image %q", ErrCorrupt, record.ImageRef)
	}
	if err != nil {
		return Record{}, false, err
	}
	return record, true, nil
}

// Record returns the record of imageRef and whether there is one. A corrupt one is ErrCorrupt.
func (s *Store) Record(imageRef string) (Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record(imageRef)
}

// MustPull reports whether the holder has to pull image although the node has it as imageRef, which is empty when it
// has not.
//
// Only namespace, name and UID of a service account count: not its annotations, not the audience, and not what the
// configuration says today. A service account that was deleted and made again has another UID, and pulls. The answer
// holds whatever the error: a record that cannot be read counts as none, and one that cannot be added to says what it
// said.
//
// Source: KEP-2535; KEP-4412; Kubernetes 1.36, MustAttemptImagePull.
func (s *Store) MustPull(image, imageRef string, policy Policy, holder Holder) (bool, error) {
	if imageRef == "" {
		return true, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	record, found, err := s.record(imageRef)
	if err != nil {
		return true, err
	}
	pulledHere := found || s.intended(image)
	if !policy.verifies(image, pulledHere) {
		return false, nil
	}
	name, err := trimmed(image)
	if err != nil {
		return true, err
	}
	access := record.CredentialMapping[name]
	if !found || !access.allows(holder) {
		return true, nil
	}
	return false, s.learn(image, imageRef, access, holder)
}

// intended reports whether an intent is there: of a pull under way, or of one that a crash ended.
func (s *Store) intended(image string) bool {
	if s.counts[image] > 0 {
		return true
	}
	_, err := s.pulling.read(image)
	return !errors.Is(err, fs.ErrNotExist)
}

// learn adds the secrets of a holder that was let in by one of them: a rotated secret, or the same credentials under
// another name.
func (s *Store) learn(image, imageRef string, access Access, holder Holder) error {
	if access.Everyone || len(access.Secrets) >= maxSecrets {
		return nil
	}
	for _, secret := range holder.Secrets {
		if !slices.Contains(access.Secrets, secret) && (Access{Secrets: access.Secrets}).allows(Holder{Secrets: []Secret{secret}}) {
			if err := s.add(image, imageRef, Access{Secrets: []Secret{secret}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Recover is called once at start, with the images that the runtime has: it returns the runtime's reference for an
// image as pods name it, or the empty string. Every intent that a crash left behind becomes a record without access
// when the image is there, so that it is pulled again by whoever wants it; when it is not, the intent is taken away. It
// returns the images found so, ascending, and joins the errors; a corrupt intent is one of them, and is skipped.
func (s *Store) Recover(present func(image string) (imageRef string)) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var images []string
	faults := s.pulling.each(func(data []byte) error {
		image, err := decodeIntent(data)
		if err == nil && s.counts[image] == 0 {
			images = append(images, image)
		}
		return err
	})
	slices.Sort(images)
	for _, image := range images {
		if imageRef := present(image); imageRef != "" {
			if err := s.add(image, imageRef, Access{}); err != nil {
				faults = errors.Join(faults, err)
				continue
			}
		}
		faults = errors.Join(faults, s.pulling.remove(image))
	}
	return images, faults
}

// Prune removes the records of images that are not in use and have not changed since before, and joins the errors.
func (s *Store) Prune(inUse []string, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []string
	faults := s.pulled.each(func(data []byte) error {
		record, err := DecodeRecord(data)
		if err == nil && record.LastUpdatedTime.Before(before) && !slices.Contains(inUse, record.ImageRef) {
			gone = append(gone, record.ImageRef)
		}
		return err
	})
	for _, imageRef := range gone {
		faults = errors.Join(faults, s.pulled.remove(imageRef))
	}
	return faults
}
