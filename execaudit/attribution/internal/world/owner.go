package world

import (
	"fmt"
	"strconv"
	"strings"
)

// Part is what a process is to its session.
type Part uint8

// The parts.
const (
	// PartNone is of no session, or of one that nobody can expect to be named.
	PartNone Part = iota
	// PartPlain was forked and executed as programs commonly are, in a session with the one request of its ID.
	PartPlain
	// PartHostile is of such a session too, and it or an ancestor did what might hide or forge that.
	PartHostile
)

// Truth is whose an event is.
type Truth struct {
	// Request is the number of the session's request; 0 for nobody's.
	Request int
	Part    Part
}

// Owner reads the truth of an event from its command line.
func Owner(command string) Truth {
	fields := strings.Split(command, "-")
	if len(fields) != 4 {
		return Truth{}
	}
	request, _ := strconv.Atoi(fields[2])
	part, _ := strconv.Atoi(fields[3])
	return Truth{request, Part(part)}
}

func commandOf(serial int, t Truth) string {
	return "e-" + strconv.Itoa(serial) + "-" + strconv.Itoa(t.Request) + "-" + strconv.Itoa(int(t.Part))
}

// users is few, so that one user has several sessions at a time.
const users = 37

// UserOf returns the name of the user who made a request.
func UserOf(request int) string {
	return fmt.Sprintf("user-%d", request*7%users)
}

// ActorOf returns as whom a request was carried out: of every fifth, another than UserOf.
func ActorOf(request int) string {
	if request%5 == 0 {
		return fmt.Sprintf("role-%d", request%11)
	}
	return UserOf(request)
}

// AgentOf returns the user agent of a request, which no other has.
func AgentOf(request int) string {
	return fmt.Sprintf("kubectl/%d", request)
}
