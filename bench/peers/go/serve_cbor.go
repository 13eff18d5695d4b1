package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
)

// encodeCBOR writes a pod as the API server does with its feature gate CBORServingAndStorage: strings as byte strings, and
// the keys of each struct beginning at one that chance picks. Pods are the same in each run of the server but for that.
func encodeCBOR(pod *corev1.Pod) object {
	pod.TypeMeta = metav1.TypeMeta{}
	item := inner(pod)
	pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	raw := whole(pod)
	event := whole(&metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: raw}})
	marker := append([]byte{0x40 | byte(len(versionKey))}, versionKey...)
	marker = append(marker, 0x40|byte(len(pod.ResourceVersion)))
	at := func(encoded []byte) int {
		found := bytes.Index(encoded, append(marker, pod.ResourceVersion...))
		if found == -1 {
			check(fmt.Errorf("cannot find resourceVersion %q in an encoded pod", pod.ResourceVersion))
		}
		return found + len(marker)
	}
	return object{item: item, event: event, itemVersion: at(item), eventVersion: at(event)}
}

const versionKey = "resourceVersion"

var cborSerializer = cbor.NewSerializer(scheme.Scheme, scheme.Scheme, cbor.Transcode(false))

// whole is an object as it stands alone.
func whole(object runtime.Object) []byte {
	var buffer bytes.Buffer
	check(cborSerializer.EncodeNondeterministic(object, &buffer))
	return buffer.Bytes()
}

// inner is an object as it stands in another: without the tag of three bytes that says it is CBOR.
func inner(object runtime.Object) []byte {
	return whole(object)[3:]
}

// listInCBOR puts the items in the place of the empty array that an empty list ends with.
func listInCBOR(listMeta metav1.ListMeta, objects []object) []byte {
	var buffer bytes.Buffer
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: listMeta, Items: []corev1.Pod{}}
	check(cborSerializer.Encode(list, &buffer))
	empty := []byte("\x45items\x80")
	head, tail, found := bytes.Cut(buffer.Bytes(), empty)
	if !found {
		check(fmt.Errorf("cannot find the items of a list in CBOR"))
	}
	body := append([]byte(nil), head...)
	body = append(body, empty[:len(empty)-1]...)
	body = append(body, 0x9a)
	body = binary.BigEndian.AppendUint32(body, uint32(len(objects)))
	for _, object := range objects {
		body = append(body, object.item...)
	}
	return append(body, tail...)
}
