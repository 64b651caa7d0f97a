//go:build linux
package bpf_test
func reader(string) error {return nil}
func reduced(string) error {return nil}
func watch(string) error {return nil}
