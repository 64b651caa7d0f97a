package supgroups

import (
	"fmt"
	"io"
)

// Resolve returns the user and groups that the first process of a container starts with, given the image's /etc/passwd and
// /etc/group. A nil reader stands for a missing file, which is the same as an empty one.
//
// Each file is read at most once, as far as needed: passwd up to the user's row, group not at all when neither memberships
// nor a group name depend on it (under Strict with a numeric group, for example). Memory does not depend on the size of
// the files. Of rows with the same name or ID the first counts; a row that cannot be used is skipped and counted, never
// read as 0.
//
// Where runtimes disagree, KEP-3619's text decides. Under Merge the memberships of the primary user are added also when
// the image's user string names a group, and also those of a group named like the user. A container without any user is
// root with the group of root's passwd row, as it would be through the kubelet.
//
// Errors: ErrUnknownPolicy for a policy other than the two; *IDError for a requested ID outside 0 to MaxID;
// ErrGroupWithoutUser for RunAsGroup without a user; ErrUserSyntax for a malformed user; ErrUnknownUser and
// ErrUnknownGroup for a name that no usable row has; ErrTooManyGroups beyond MaxGroups; and a reader's own error. With an
// error the Identity holds nothing but what was skipped so far.
//
// Source: KEP-3619, SupplementalGroupsPolicy in PodSecurityContext.
func Resolve(req Request, passwd, group io.Reader) (Identity, error) {
	if req.Policy > Strict {
		return Identity{}, fmt.Errorf("%w: %s", ErrUnknownPolicy, req.Policy)
	}
	who, err := req.principal()
	if err != nil {
		return Identity{}, err
	}
	asked, err := req.asked()
	if err != nil {
		return Identity{}, err
	}
	id := Identity{UserFrom: who.userFrom, GroupFrom: who.groupFrom}
	buf := make([]byte, blockBytes)
	if err := id.readPasswd(who, req.Policy, passwd, buf); err != nil {
		return Identity{Passwd: id.Passwd}, err
	}
	if err := id.readGroup(who, req.Policy, asked, group, buf); err != nil {
		return Identity{Passwd: id.Passwd, Group: id.Group}, err
	}
	return id, nil
}

// readPasswd sets the user, and the group unless one is asked for.
func (id *Identity) readPasswd(who principal, p Policy, passwd io.Reader, buf []byte) error {
	id.UID, id.GID, id.Username = who.user.ID, who.group.ID, who.user.Name
	if passwd != nil && (p == Merge || who.group.IsZero() || !who.user.Numeric) {
		t := passwdTable{want: who.user}
		err := feed(passwd, buf, &t)
		id.Passwd = t.skipped
		if err != nil {
			return fmt.Errorf("passwd: %w", err)
		}
		if t.found {
			id.UID, id.Username = t.uid, t.name
			if who.group.IsZero() {
				id.GID, id.GroupFrom = t.gid, SourcePasswd
			}
			return nil
		}
	}
	if !who.user.Numeric {
		return fmt.Errorf("%w: no passwd row has the name %q", ErrUnknownUser, who.user.Name)
	}
	return nil
}

// readGroup sets the group if it is asked for by name, and the supplementary groups.
func (id *Identity) readGroup(who principal, p Policy, asked []Group, group io.Reader, buf []byte) error {
	t := groupTable{wantName: who.group.Name}
	if p == Merge {
		t.member = []byte(id.Username)
	}
	if group != nil && (t.wantName != "" || len(t.member) > 0) {
		err := feed(group, buf, &t)
		id.Group = t.skipped
		if err != nil {
			return fmt.Errorf("group: %w", err)
		}
	}
	if t.full {
		return fmt.Errorf("%w: the image has more than %d", ErrTooManyGroups, MaxGroups)
	}
	if t.wantName != "" {
		if !t.found {
			return fmt.Errorf("%w: no group row has the name %q", ErrUnknownGroup, t.wantName)
		}
		id.GID = t.gid
	}
	groups := append(asked, Group{ID: id.GID, Origin: OriginPrimary})
	id.Groups = merge(t.groups(groups))
	if len(id.Groups) > MaxGroups {
		return fmt.Errorf("%w: more than %d", ErrTooManyGroups, MaxGroups)
	}
	return nil
}
