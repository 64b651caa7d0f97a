package redact_test

import (
	"encoding/json"
	"fmt"

	"github.com/lanyard-dev/lanyard/redact"
)

func Example() {
	login := struct {
		User     string
		Password redact.Text
	}{"jane", redact.New("open-sesame")}

	shown, _ := json.Marshal(login)
	fmt.Printf("%s\n%+v\n", shown, login)
	fmt.Println(len(login.Password.Reveal()))
	// Output:
	// {"User":"jane","Password":"[redacted]"}
	// {User:jane Password:[redacted]}
	// 11
}

func ExampleTexts() {
	args := redact.Texts("login", "--password", "open-sesame")
	fmt.Println(args, redact.Reveal(args)[0])
	// Output: [[redacted] [redacted] [redacted]] login
}
