package scan

import "time"

// Time returns an RFC 3339 time, the zero time for null. Every other value is a fault, and so is what ParseTime does
// not take.
func (c *Cursor) Time() time.Time {
	if c.Null() {
		return time.Time{}
	}
	t := ParseTime(c.Raw())
	if t.IsZero() {
		c.fail()
	}
	return t
}

// Bounds of the times that are read: what a kernel's clock can show, and what JSON can be written of again.
const (
	minYear = 1970
	maxYear = 9998 // in any zone before the year 10000
	// maxOffset is the farthest that a time zone is from UTC.
	maxOffset = 14 * 3600
)

// ParseTime reads RFC 3339 with the letters T and Z in upper case, of the years 1970 to 9998 and zones up to 14 hours
// from UTC. Digits beyond nanoseconds are cut off, as package time does. It returns the zero time for anything else,
// such as a day that its month does not have, or a leap second, which Kubernetes' and the agents' clocks do not show.
//
// Source: RFC 3339, section 5.6 and 5.7.
func ParseTime(b []byte) time.Time {
	if len(b) < len("2006-01-02T15:04:05Z") || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return time.Time{}
	}
	year, month, day := digits(b[0:4]), digits(b[5:7]), digits(b[8:10])
	hour, minute, second := digits(b[11:13]), digits(b[14:16]), digits(b[17:19])
	if year < minYear || year > maxYear || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 ||
		hour|minute|second < 0 || day > 28 && day > daysIn(year, month) {
		return time.Time{}
	}
	nanos, rest := fraction(b[19:])
	offset, ok := zone(rest)
	if !ok || offset > maxOffset || offset < -maxOffset {
		return time.Time{}
	}
	unix := days(year, month, day)*86400 + int64(hour*3600+minute*60+second) - offset
	return time.Unix(unix, nanos).UTC()
}

// Plausible reports whether the time is of a year that ParseTime takes.
func Plausible(t time.Time) bool {
	return t.Year() >= minYear && t.Year() <= maxYear
}

// daysIn returns how many days a month has, 1 being January.
func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	}
	return 30 + (month+month/8)%2
}

// days counts from 1970-01-01 in the Gregorian calendar.
func days(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return int64(365*year+year/4-year/100+year/400+(153*(month-3)+2)/5+day-1) - 719468
}

// digits returns -1 for what is not a number.
func digits(b []byte) int {
	n := 0
	for _, d := range b {
		if d-'0' >= 10 {
			return -1
		}
		n = n*10 + int(d-'0')
	}
	return n
}

// fraction reads a point and digits. A point without a digit is not a fraction, and is left for zone to refuse.
func fraction(b []byte) (nanos int64, rest []byte) {
	if len(b) < 2 || b[0] != '.' || b[1]-'0' >= 10 {
		return 0, b
	}
	i, scale := 1, int64(100_000_000)
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		nanos += int64(b[i]-'0') * scale
		scale /= 10
	}
	return nanos, b[i:]
}

// zone returns the offset in seconds of "Z" or "+01:00".
func zone(b []byte) (int64, bool) {
	if len(b) == 1 && b[0] == 'Z' {
		return 0, true
	}
	if len(b) != 6 || b[0] != '+' && b[0] != '-' || b[3] != ':' {
		return 0, false
	}
	hours, minutes := digits(b[1:3]), digits(b[4:6])
	if hours < 0 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset := int64(hours*3600 + minutes*60)
	if b[0] == '-' {
		offset = -offset
	}
	return offset, true
}
