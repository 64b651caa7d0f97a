package supgroups

import (
	"fmt"
	"io"
	"strings"
)

// Resolve returns the user and groups that the first process of a container starts with, given the image's /etc/passwd
// and /etc/group. A nil reader stands for a missing file, which is the same as an empty one.
//
// Each file is read at most once, as far as needed: passwd up to the user's row, group not at all when neither
// memberships nor a group name depend on it (under Strict with a numeric group, for example). Memory does not depend on
// the size of the files. Of rows with the same name or ID the first counts; a row that cannot be used is skipped and
// counted, never read as 0.
//
// Where runtimes disagree, KEP-3619's text decides. Under Merge the memberships of the primary user are added also when
// the image's user string names a group, and also those of a group named like the user. A container without any user is
// root with the group of root's passwd row, as it would be through the kubelet.
//
// Errors: ErrUnknownPolicy for a policy other than the two; *IDError for a requested ID outside 0 to MaxID;
// ErrGroupWithoutUser for RunAsGroup without a user; ErrUserSyntax for a malformed user; ErrUnknownUser and
// ErrUnknownGroup for a name that no usable row has; ErrTooManyGroups beyond MaxGroups; and a reader's own error. With
// an error, the Identity contains only what was skipped so far.
//
// Source: KEP-3619, SupplementalGroupsPolicy in PodSecurityContext.
func Resolve(req Request, passwd, group io.Reader) (Identity, error) {
	if req.Policy > PolicyStrict {
		return Identity{}, fmt.Errorf("%w: %s", ErrUnknownPolicy, req.Policy)
	}
	who, err := req.principal()
	if err != nil {
		return Identity{}, err
	}
	if err := req.checkGroups(); err != nil {
		return Identity{}, err
	}
	s := newScan()
	s.req, s.who = req, who
	if err := s.readPasswd(passwd); err != nil {
		return Identity{Passwd: s.passwd.skipped}, err
	}
	if err := s.readGroup(group); err != nil {
		return Identity{Passwd: s.passwd.skipped, Group: s.group.skipped}, err
	}
	return s.identity()
}

// scan is one resolution.
type scan struct {
	feeder feeder
	req    Request
	who    principal
	passwd passwdTable
	group  groupTable
}

// newScan allocates a scan twice over: what holds pointers, and what the garbage collector need not look into.
func newScan() *scan {
	var s scan
	memory := new(struct {
		block [blockBytes]byte
		room  room
	})
	s.feeder.buf, s.group.room = memory.block[:], &memory.room
	return &s
}

// readPasswd completes who: the user's ID and name, and the group unless one is asked for.
func (s *scan) readPasswd(file io.Reader) error {
	who, t := &s.who, &s.passwd
	needed := s.req.Policy == PolicyMerge || who.group.IsZero() || !who.user.Numeric
	if file != nil && needed {
		t.set(who.user)
		if err := s.feeder.feed(file, t); err != nil {
			return fmt.Errorf("passwd: %w", err)
		}
	}
	if !t.found {
		if !who.user.Numeric {
			return fmt.Errorf("%w: no passwd row has the name %q", ErrUnknownUser, who.user.Name)
		}
		who.group.Numeric = who.group.Name == ""
		return nil
	}
	if who.group.IsZero() {
		who.group, who.groupFrom = Ref{ID: t.gid, Numeric: true}, SourcePasswd
	}
	who.user = Ref{ID: t.uid, Name: t.name, Numeric: true}
	return nil
}

// readGroup resolves the group's name, if it is asked for by one, and collects the memberships.
func (s *scan) readGroup(file io.Reader) error {
	who, t := &s.who, &s.group
	t.name.text = who.group.Name
	// A name with a comma cannot be in a list that is split at commas.
	if s.req.Policy == PolicyMerge && !strings.Contains(who.user.Name, ",") {
		t.member.text = who.user.Name
	}
	if file != nil && (t.name.text != "" || t.member.text != "") {
		if err := s.feeder.feed(file, t); err != nil {
			return fmt.Errorf("group: %w", err)
		}
	}
	if t.full {
		return fmt.Errorf("%w: the image has more than %d", ErrTooManyGroups, MaxGroups)
	}
	if who.group.Numeric {
		return nil
	}
	if !t.found {
		return fmt.Errorf("%w: no group row has the name %q", ErrUnknownGroup, who.group.Name)
	}
	who.group = Ref{ID: t.gid, Numeric: true}
	return nil
}

func (s *scan) identity() (Identity, error) {
	groups := s.group.merge(&s.req, s.who.group.ID)
	if len(groups) > MaxGroups {
		return Identity{}, fmt.Errorf("%w: %d exceed %d", ErrTooManyGroups, len(groups), MaxGroups)
	}
	return Identity{
		UID: s.who.user.ID, GID: s.who.group.ID, Username: s.who.user.Name,
		UserFrom: s.who.userFrom, GroupFrom: s.who.groupFrom,
		Groups: groups, Passwd: s.passwd.skipped, Group: s.group.skipped,
	}, nil
}
