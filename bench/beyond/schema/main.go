// Prints, as JSON, how the fields of a Pod stand in protobuf and in JSON, for every message it is made of. The .proto files
// do not say it all: whether a Go field is a pointer, whether its zero is left out of JSON, and which messages JSON inlines.
//
// It is run in the module beside it that depends on k8s.io/api: go run ../../beyond/schema/main.go
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type field struct {
	Number   int    `json:"number"`
	Name     string `json:"name"`
	Proto    string `json:"proto,omitempty"`
	Type     string `json:"type"`
	Of       string `json:"of,omitempty"`
	Card     string `json:"card"`
	Presence string `json:"presence"`
	Inline   bool   `json:"inline,omitempty"`
}

var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():        "time",
	reflect.TypeFor[resource.Quantity]():  "quantity",
	reflect.TypeFor[intstr.IntOrString](): "intOrString",
	reflect.TypeFor[metav1.FieldsV1]():    "fieldsV1",
}

func main() {
	messages := map[string][]field{}
	describe(reflect.TypeFor[corev1.Pod](), messages)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(messages); err != nil {
		fail("Cannot print the schema: %v", err)
	}
}

func describe(message reflect.Type, messages map[string][]field) {
	name := nameOf(message)
	if _, known := messages[name]; known {
		return
	}
	messages[name] = nil // it may contain itself
	fields := []field{}
	for index := range message.NumField() {
		member := message.Field(index)
		wire, ok := member.Tag.Lookup("protobuf")
		if !ok {
			continue // kind and apiVersion, which the envelope has
		}
		number, err := strconv.Atoi(strings.Split(wire, ",")[1])
		if err != nil {
			fail("Cannot read the tag %q of %s: %v", wire, name, err)
		}
		tag := strings.Split(member.Tag.Get("json"), ",")
		found := field{Number: number, Name: tag[0], Card: "one", Presence: "always"}
		for _, option := range tag[1:] {
			switch option {
			case "omitempty", "omitzero":
				found.Presence = later(found.Presence, option)
			case "inline":
				found.Inline = true
			}
		}
		if proto := protoName(member.Name, wire); proto != found.Name {
			found.Proto = proto
		}
		kind := member.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
			if found.Presence == "always" {
				found.Presence = "null"
			} else {
				found.Presence = "pointer"
			}
		}
		if kind.Kind() == reflect.Slice {
			found.Card = "list"
			kind = kind.Elem()
		} else if kind.Kind() == reflect.Map {
			found.Card = "map"
			kind = kind.Elem()
		}
		found.Type, found.Of = typeOf(kind)
		// encoding/json leaves out the zero of a struct only for omitzero.
		if found.Card == "one" && found.Presence == "omitempty" && (found.Type == "message" || kind.Kind() == reflect.Struct) {
			found.Presence = "always"
		}
		if found.Type == "message" {
			describe(kind, messages)
		}
		fields = append(fields, found)
	}
	messages[name] = fields
}

// protoName is what the .proto files call a field.
func protoName(member, wire string) string {
	for _, option := range strings.Split(wire, ",") {
		if name, ok := strings.CutPrefix(option, "name="); ok {
			return name
		}
	}
	return strings.ToLower(member[:1]) + member[1:]
}

// later is the stronger of two options.
func later(before, option string) string {
	if before == "omitzero" {
		return before
	}
	return option
}

func typeOf(kind reflect.Type) (name, of string) {
	if name, ok := special[kind]; ok {
		return name, ""
	}
	switch kind.Kind() {
	case reflect.String:
		return "string", ""
	case reflect.Bool:
		return "bool", ""
	case reflect.Int32:
		return "int32", ""
	case reflect.Int64:
		return "int64", ""
	case reflect.Struct:
		return "message", nameOf(kind)
	}
	fail("Cannot describe a field of type %q: it is of none of the kinds that a Pod has", kind)
	return "", ""
}

// nameOf is the name of a message as in the .proto files.
func nameOf(message reflect.Type) string {
	return strings.ReplaceAll(message.PkgPath(), "/", ".") + "." + message.Name()
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
