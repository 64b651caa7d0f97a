package scan_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"31 February", "2026-02-31T04:10:00Z"},
		{"29 February of no leap year", "2026-02-29T04:10:00Z"},
		{"29 February of a century", "2100-02-29T04:10:00Z"},
		{"31 April", "2026-04-31T04:10:00Z"},
		{"31 November", "2026-11-31T04:10:00Z"},
		{"day 0", "2026-11-00T04:10:00Z"},
		{"day 32", "2026-12-32T04:10:00Z"},
		{"month 0", "2026-00-21T04:10:00Z"},
		{"month 13", "2026-13-21T04:10:00Z"},
		{"hour 24", "2026-11-21T24:00:00Z"},
		{"minute 60", "2026-11-21T04:60:00Z"},
		{"second 60", "2026-11-21T23:59:60Z"},
		{"second 61", "2026-11-21T23:59:61Z"},
		{"year 0", "0000-11-21T04:10:00Z"},
		{"year 1969", "1969-12-31T23:59:59Z"},
		{"year 9999, which is the year 10000 in UTC", "9999-12-31T23:59:59-14:00"},
		{"five digits of year", "12026-11-21T04:10:00Z"},
		{"a zone beyond 14 hours", "2026-11-21T04:10:00+14:01"},
		{"a zone beyond 14 hours westward", "2026-11-21T04:10:00-15:00"},
		{"a zone of 99 hours", "2026-11-21T04:10:00+99:99"},
		{"a zone with minute 60", "2026-11-21T04:10:00+01:60"},
		{"no zone", "2026-11-21T04:10:00"},
		{"a point without digits", "2026-11-21T04:10:00.Z"},
		{"a point and a zone", "2026-11-21T04:10:00.+01:00"},
		{"a sign for a digit", "2026-11-21T04:10:-1Z"},
		{"lower case", "2026-11-21t04:10:00z"},
		{"text behind", "2026-11-21T04:10:00Z "},
		{"nothing", ""},
	} {
		t.Run("ATT-14 "+c.name+" is no time", func(t *testing.T) {
			if got := scan.ParseTime([]byte(c.text)); !got.IsZero() {
				t.Errorf("ParseTime(%q) = %v, want the zero time", c.text, got)
			}
			cursor := scan.New([]byte(strconv.Quote(c.text)))
			if cursor.Time(); cursor.OK() {
				t.Errorf("Time of %q is no fault", c.text)
			}
		})
	}
	t.Run("ATT-14 every day, and none that its month has not, is read as package time reads it", func(t *testing.T) {
		for _, year := range []int{1970, 1999, 2000, 2024, 2026, 2100, 2400, 9998} {
			for month := 0; month <= 13; month++ {
				for day := 0; day <= 32; day++ {
					same(t, fmt.Sprintf("%04d-%02d-%02dT23:59:59.5Z", year, month, day))
				}
			}
		}
	})
	t.Run("ATT-14 a time of any zone and any number of digits is read as package time reads it", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone"))
			at := time.Unix(rapid.Int64Range(86400, 253_370_000_000-86400*400).Draw(t, "second"), 0).In(zone)
			digits := rapid.StringMatching(`(\.[0-9]{1,12})?`).Draw(t, "digits")
			same(t, at.Format("2006-01-02T15:04:05")+digits+at.Format("Z07:00"))
		})
	})
	t.Run("ATT-14 null is no time and no fault, and another value is a fault", func(t *testing.T) {
		for value, ok := range map[string]bool{"null": true, "5": false, "true": false, "{}": false, `""`: false, "nul": false} {
			c := scan.New([]byte(value))
			if got := c.Time(); !got.IsZero() || c.OK() != ok {
				t.Errorf("Time of %s = %v, whole %t", value, got, c.OK())
			}
		}
	})
}

// same holds a time to what package time makes of it.
func same(t interface{ Fatalf(string, ...any) }, text string) {
	want, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		want = time.Time{}
	}
	if got := scan.ParseTime([]byte(text)); !got.Equal(want) {
		t.Fatalf("ParseTime(%q) = %v, want %v", text, got, want)
	}
}

func TestInt(t *testing.T) {
	t.Run("ATT-14 a number beyond 64 bits, a part of one or a text is a fault, not another number", func(t *testing.T) {
		for _, text := range []string{
			"9223372036854775808", "9999999999999999999", "18446744073709551616", "-9223372036854775809", "1.5", "1e3", "-", `"5"`, "true", "{}", "[5]",
			"100000000000000000000000000000000000000000000000000",
		} {
			c := scan.New([]byte(text))
			if n := c.Int(); n != 0 || c.OK() {
				t.Errorf("Int of %s = %d, whole %t", text, n, c.OK())
			}
		}
	})
	t.Run("ATT-14 every other number is itself, and null is 0", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			want := rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "n")
			c := scan.New(strconv.AppendInt(nil, want, 10))
			if n := c.Int(); n != want || !c.OK() {
				t.Fatalf("Int of %d = %d, whole %t", want, n, c.OK())
			}
		})
		c := scan.New([]byte("null"))
		if n := c.Int(); n != 0 || !c.OK() {
			t.Errorf("Int of null = %d, whole %t", n, c.OK())
		}
	})
	t.Run("ATT-14 a PID that no process can have is a fault", func(t *testing.T) {
		for text, ok := range map[string]bool{"0": true, "2147483647": true, "null": true, "-1": false, "2147483648": false, "4294972007": false} {
			c := scan.New([]byte(text))
			if c.PID(); c.OK() != ok {
				t.Errorf("PID of %s: whole %t, want %t", text, c.OK(), ok)
			}
		}
	})
}

func TestLeave(t *testing.T) {
	t.Run("ATT-8 what is left of an object is skipped as a whole, or is a fault", func(t *testing.T) {
		for line, ok := range map[string]bool{
			`{"a":1}`: true, `{"a":1,"b":{"c":["}"]}}`: true, `{"a":1,"b":{`: false, `{"a":1]`: false, `{"a":1}}`: false, `{"a":1`: false,
		} {
			c := scan.New([]byte(line))
			c.Object()
			c.Member()
			c.Skip()
			c.Leave()
			if c.OK() != ok {
				t.Errorf("%s: whole %t, want %t", line, c.OK(), ok)
			}
		}
	})
}
