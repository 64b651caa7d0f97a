package flight_test

import (
	"context"
	"fmt"

	"github.com/lanyard-dev/lanyard/internal/flight"
)

func ExampleGroup_Do() {
	var logins flight.Group[string, string]
	token, _, err := logins.Do(context.Background(), "cluster-a", flight.Options{}, func(*flight.Run) (string, error) {
		return "a token", nil
	})
	fmt.Println(token, err)
	// Output: a token <nil>
}
