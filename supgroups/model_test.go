package supgroups_test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// model is a slow and obvious resolution of a request whose user is given by ID or name and whose group, if any, by ID.
// It reads the files as strings, row by row.
type model struct {
	uid, gid uint32
	groups   []uint32
	known    bool
}

const blanks = " \t\v\f\r"

type modelRow struct {
	fields []string
	usable bool
}

func modelRows(file string, ids int) (rows []modelRow) {
	for _, line := range strings.Split(file, "\n") {
		line = strings.Trim(line, blanks)
		if line == "" || line[0] == '#' {
			continue
		}
		r := modelRow{fields: strings.Split(line, ":")}
		r.usable = modelUsable(line, r.fields, ids)
		rows = append(rows, r)
	}
	return rows
}

func modelUsable(line string, fields []string, ids int) bool {
	if len(fields) < 2+ids || fields[0] == "" || len(fields[0]) > supgroups.MaxNameBytes || strings.ContainsAny(fields[0][:1], "+-") {
		return false
	}
	head := strings.Join(fields[:2+ids], ":")
	if len(line) > supgroups.MaxRowHead && len(head) >= supgroups.MaxRowHead {
		return false
	}
	for _, id := range fields[2 : 2+ids] {
		if _, ok := modelID(id); !ok {
			return false
		}
	}
	return true
}

func modelID(s string) (uint32, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return uint32(n), err == nil && n <= supgroups.MaxID
}

func resolveModel(req supgroups.Request, passwd, group string) model {
	m := model{}
	name := req.RunAsUsername
	for _, r := range modelRows(passwd, 2) {
		if !r.usable {
			continue
		}
		uid, _ := modelID(r.fields[2])
		if name != "" && r.fields[0] == name || name == "" && int64(uid) == *req.RunAsUser {
			m.known, m.uid, name = true, uid, r.fields[0]
			m.gid, _ = modelID(r.fields[3])
			break
		}
	}
	if !m.known && name != "" {
		return m
	}
	if !m.known {
		m.known, m.uid = true, uint32(*req.RunAsUser)
	}
	if req.RunAsGroup != nil {
		m.gid = uint32(*req.RunAsGroup)
	}
	m.groups = append(m.groups, m.gid)
	for _, g := range req.SupplementalGroups {
		m.groups = append(m.groups, uint32(g))
	}
	if req.FSGroup != nil {
		m.groups = append(m.groups, uint32(*req.FSGroup))
	}
	if req.Policy == supgroups.PolicyMerge && name != "" {
		m.groups = append(m.groups, modelMemberships(group, name)...)
	}
	slices.Sort(m.groups)
	m.groups = slices.Compact(m.groups)
	return m
}

func modelMemberships(group, name string) (gids []uint32) {
	for _, r := range modelRows(group, 1) {
		if !r.usable || len(r.fields) < 4 {
			continue
		}
		if slices.Contains(strings.Split(r.fields[3], ","), name) {
			gid, _ := modelID(r.fields[2])
			gids = append(gids, gid)
		}
	}
	return gids
}
