// Command lanyard-reporter is the only program in our test images. It is static and needs nothing beside itself. It
// says what it is and does what tests need:
//
//	reporter                      report as JSON, exit
//	reporter sleep [DURATION]     report, then sleep (for ever without a duration)
//	reporter pause                sleep until SIGTERM; orphans that become its own vanish when they end
//	reporter hold                 report, then wait for the end of standard input
//	reporter exit CODE
//	reporter ignore               ignore SIGTERM, SIGINT and SIGHUP, sleep for ever
//	reporter term CODE            exit with CODE at SIGTERM
//	reporter spawn N [DURATION]   start N children that sleep, report, exit without waiting for them
//	reporter tree DEPTH [WORD]... start a child that does the same with one less, report, wait for it; the last holds
//	reporter live DIR NAME STEP...  report into DIR/reports as one generation of many, see live; end with standard input
//	reporter forge ID ...         become the rest, with that audit ID in the environment
//	reporter bare ...             become the rest, with an empty environment
//	reporter env NAME=VALUE... PROGRAM ARG...  become the program with these variables, as env(1) does
//	reporter loginuid UID ...     write the login UID of this process, as pam_loginuid does, then become the rest
//	reporter descend HOW...       report; start one that holds for each HOW (child, daemon, bare, see descend); hold
//	reporter each                 report; start one that holds for each line of standard input, until that ends
//	reporter leave ...            start the rest in a session of its own, exit without waiting
//	reporter flood BYTES [RATE]   write that many bytes to stdout, at RATE bytes a second if given
//	reporter echo                 copy standard input to standard output
//	reporter print OUT ERR [CODE] OUT to stdout, ERR to stderr, exit with CODE
//	reporter linger DURATION ...  do the rest, stay for the duration, then exit as the rest would
//	reporter size                 print the terminal's rows and columns at the start and at every change
//	reporter listen PORT          accept on 127.0.0.1, answer each connection with what it sends
//	reporter write PATH TEXT      write a file
//	reporter read PATH            print a file
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func main() {
	err := run(os.Args[1:])
	var code exitCode
	switch {
	case errors.As(err, &code):
		os.Exit(int(code))
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// exitCode ends the program without a word.
type exitCode int

func (c exitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

func run(args []string) error {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch arg(0) {
	case "":
		return printReport()
	case "sleep":
		if err := printReport(); err != nil {
			return err
		}
		return sleep(arg(1))
	case "hold":
		if err := printReport(); err != nil {
			return err
		}
		return hold()
	case "pause":
		// Whose parent does not care for them leaves no zombies.
		signal.Ignore(syscall.SIGCHLD)
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
		<-c
		return nil
	case "exit":
		return exit(arg(1))
	case "ignore":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ignoring")
		return sleep("")
	case "term":
		return exitAtTerm(arg(1))
	case "spawn":
		return spawn(arg(1), arg(2))
	case "tree":
		return tree(arg(1), args[min(2, len(args)):])
	case "live":
		return live(arg(1), args[min(2, len(args)):])
	case "forge":
		return forge(args[1:])
	case "bare":
		return become(args[1:], nil)
	case "env":
		return environment(args[1:])
	case "loginuid":
		return login(arg(1), args[min(2, len(args)):])
	case "descend":
		return descend(args[1:])
	case "each":
		return each()
	case "leave":
		return start(args[1:], &syscall.SysProcAttr{Setsid: true})
	case "flood":
		return flood(arg(1), arg(2))
	case "echo":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case "print":
		fmt.Fprint(os.Stdout, arg(1))
		fmt.Fprint(os.Stderr, arg(2))
		if arg(3) == "" {
			return nil
		}
		return exit(arg(3))
	case "linger":
		d, err := time.ParseDuration(arg(1))
		if err != nil {
			return err
		}
		err = run(args[2:])
		time.Sleep(d)
		return err
	case "size":
		return printSizes()
	case "listen":
		return listen(arg(1))
	case "write":
		return os.WriteFile(arg(1), []byte(arg(2)), 0o644)
	case "read":
		b, err := os.ReadFile(arg(1))
		fmt.Print(string(b))
		return err
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func exit(code string) error {
	n, err := strconv.Atoi(code)
	if err != nil {
		return err
	}
	return exitCode(n)
}

func printReport() error {
	r, err := report.Self()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func sleep(duration string) error {
	if duration == "" {
		for {
			time.Sleep(time.Hour)
		}
	}
	d, err := time.ParseDuration(duration)
	time.Sleep(d)
	return err
}

func exitAtTerm(code string) error {
	n, err := strconv.Atoi(code)
	if err != nil {
		return err
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	fmt.Println("waiting")
	<-c
	return exitCode(n)
}

func spawn(count, duration string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for range n {
		// Found as /proc/self/exe: the image need not say where it is.
		cmd := exec.Command("/proc/self/exe", strings.Fields("sleep "+duration)...)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	return printReport()
}

// tree reports once its child runs its program: Start returns then. The words mark the processes for whoever lists
// them.
func tree(depth string, words []string) error {
	n, err := strconv.Atoi(depth)
	if err != nil || n <= 0 {
		return errors.Join(err, run([]string{"hold"}))
	}
	cmd := exec.Command("/proc/self/exe", append([]string{"tree", strconv.Itoa(n - 1)}, words...)...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	return errors.Join(printReport(), cmd.Wait())
}

func forge(args []string) error {
	if len(args) == 0 {
		return errors.New("forge: an audit ID is missing")
	}
	if err := os.Setenv(execaudit.AuditIDName, args[0]); err != nil {
		return err
	}
	return become(args[1:], os.Environ())
}

func flood(count, rate string) error {
	total, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		return err
	}
	perSecond := int64(0)
	if rate != "" {
		if perSecond, err = strconv.ParseInt(rate, 10, 64); err != nil {
			return err
		}
	}
	line := []byte(strings.Repeat("x", 1023) + "\n")
	began := time.Now()
	for sent := int64(0); sent < total; {
		n, err := os.Stdout.Write(line[:min(int64(len(line)), total-sent)])
		if err != nil {
			return err
		}
		if sent += int64(n); perSecond > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(float64(sent) / float64(perSecond) * float64(time.Second)))))
		}
	}
	return nil
}

func printSizes() error {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	for {
		var size struct{ Rows, Cols, X, Y uint16 }
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, 1, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
			return errno
		}
		fmt.Printf("%d %d\n", size.Rows, size.Cols)
		<-changed
	}
}

func listen(port string) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	}
}
