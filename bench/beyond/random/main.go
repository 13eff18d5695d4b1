// Prints pods with chance values in all of their fields, the same for the same seed: each a line of JSON with the pod's own
// JSON, its protobuf and its CBOR. It is run in the module that depends on k8s.io/api:
//
//	go run ../../beyond/random/main.go SEED COUNT
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
)

type encoded struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf []byte          `json:"protobuf"`
	CBOR     []byte          `json:"cbor"`
}

func main() {
	seed, err := strconv.ParseInt(os.Args[1], 10, 64)
	check(err)
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), scheme.Codecs)
	serializer := cbor.NewSerializer(scheme.Scheme, scheme.Scheme, cbor.Transcode(false))
	lines := json.NewEncoder(os.Stdout)
	for range count {
		pod := &corev1.Pod{}
		filler.Fill(pod)
		pod.TypeMeta = metav1.TypeMeta{}
		var line encoded
		line.Protobuf, err = pod.Marshal()
		check(err)
		// What protobuf does not keep, fractions of seconds and empty lists, a client of the server cannot see either.
		*pod = corev1.Pod{}
		check(pod.Unmarshal(line.Protobuf))
		pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		line.JSON, err = json.Marshal(pod)
		check(err)
		var buffer bytes.Buffer
		check(serializer.EncodeNondeterministic(pod, &buffer))
		line.CBOR = buffer.Bytes()
		check(lines.Encode(line))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "random:", err)
		os.Exit(1)
	}
}
