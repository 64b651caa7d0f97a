package runtimeconf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Compare returns an error where more than the handlers is different in two answers of `containerd config dump`, or
// where a handler does not execute its program after. Its errors are [ErrForm] and [ErrSyntax].
func Compare(before, after []byte, changed map[string]string) error {
	was, err := parse("containerd config dump", before)
	if err != nil {
		return err
	}
	is, err := parse("containerd config dump", after)
	if err != nil {
		return err
	}
	delete(was, "imports")
	delete(is, "imports")
	former, now := cutHandlers(was), cutHandlers(is)
	if !reflect.DeepEqual(was, is) {
		return fmt.Errorf("%w: containerd would read other settings differently", ErrForm)
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if binary, _ := at(now, name, "options")["BinaryName"].(string); binary != changed[name] {
			return fmt.Errorf("%w: containerd would execute %q for handler %q", ErrForm, binary, name)
		}
		delete(at(now, name, "options"), "BinaryName")
		if was, there := former[name].(map[string]any); there {
			delete(at(was, "options"), "BinaryName")
		} else {
			delete(now, name)
		}
	}
	dropEmpty(former)
	dropEmpty(now)
	if !reflect.DeepEqual(former, now) {
		return fmt.Errorf("%w: containerd would read other runtime handlers differently", ErrForm)
	}
	return nil
}

// cutHandlers takes the handlers out of the tree.
func cutHandlers(tree map[string]any) map[string]any {
	for _, plugin := range []string{pluginV3, pluginV2} {
		containerd := at(tree, "plugins", plugin, "containerd")
		if handlers := at(containerd, "runtimes"); handlers != nil {
			delete(containerd, "runtimes")
			return handlers
		}
	}
	return map[string]any{}
}

// dropEmpty removes what says nothing: containerd 1.x prints the defaults of some handlers and not of others.
func dropEmpty(tree map[string]any) {
	for name, value := range tree {
		inner, ok := value.(map[string]any)
		if ok {
			dropEmpty(inner)
		}
		if v := reflect.ValueOf(value); v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
			delete(tree, name)
		}
	}
}
