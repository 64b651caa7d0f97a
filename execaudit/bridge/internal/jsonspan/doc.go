// Package jsonspan finds values in JSON text and says where they stand, so that a part of a text can be replaced and
// every other byte stays. It accepts what encoding/json accepts (RFC 8259, strings with invalid UTF-8 too) and decodes
// strings as encoding/json does. It imports no reflection, since a program that links it starts hundreds of times a
// minute.
package jsonspan
