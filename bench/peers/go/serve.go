package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

const firstVersion = 1_000_000

// server does in protobuf what bench/peers/server.ts does in JSON, for the mix metadata: a list, then events with one
// write each, then a list again. record.go has the other mixes.
type server struct {
	job     job
	objects []object
	told    atomic.Bool
}

// object is one pod, encoded as a list item, and as the watch event that says that it was modified; both hold a
// resourceVersion of always the same length, at a known place.
type object struct {
	item, event               []byte
	itemVersion, eventVersion int
}

// serve gets the objects from the JSON server, and prints its own address.
func serve(job job) {
	var handler http.Handler
	if job.mix == "metadata" {
		handler = patching(job)
	} else {
		handler = record(job)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("http://%s\n", listener.Addr())
	check(http.Serve(listener, handler))
}

// patching gets the pods, whose versions it changes in place.
func patching(job job) *server {
	response, err := http.Get(job.url + "/api/v1/pods")
	check(err)
	var list corev1.PodList
	check(json.NewDecoder(response.Body).Decode(&list))
	check(response.Body.Close())
	server := &server{job: job}
	for index := range list.Items {
		pod := &list.Items[index]
		pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		server.objects = append(server.objects, encode(pod, pod.ResourceVersion))
	}
	return server
}

func encode(pod *corev1.Pod, version string) object {
	item, err := pod.Marshal()
	check(err)
	event := frame("MODIFIED", pod)
	return object{item: item, event: event, itemVersion: versionAt(item, version), eventVersion: versionAt(event, version)}
}

// frame encodes an event of a watch.
func frame(eventType string, of runtime.Object) []byte {
	raw, err := runtime.Encode(protobufSerializer(), of)
	check(err)
	event, err := (&metav1.WatchEvent{Type: eventType, Object: runtime.RawExtension{Raw: raw}}).Marshal()
	check(err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

// versionAt finds ObjectMeta.resourceVersion: field 6, a string.
func versionAt(encoded []byte, version string) int {
	at := bytes.Index(encoded, append([]byte{6<<3 | 2, byte(len(version))}, version...))
	if at == -1 {
		check(fmt.Errorf("cannot find resourceVersion %q in an encoded pod", version))
	}
	return at + 2
}

func protobufSerializer() runtime.Serializer {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return info.Serializer
}

func (s *server) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	switch {
	case request.URL.Path == "/reset":
		s.told.Store(false)
	case request.URL.Path != "/api/v1/pods":
		http.NotFound(writer, request)
	case query.Get("watch") == "":
		s.list(writer)
	case query.Get("sendInitialEvents") != "":
		refuseStreamingList(writer)
	default:
		s.watch(writer, request)
	}
}

func refuseStreamingList(writer http.ResponseWriter) {
	writer.Header().Set("Content-Type", "application/json")
	writer.WriteHeader(http.StatusUnprocessableEntity)
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   "Failure", Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		Message: "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
	}
	check(json.NewEncoder(writer).Encode(status))
}

// list writes a list field by field, as the items are encoded already.
func (s *server) list(writer http.ResponseWriter) {
	told := s.told.Load()
	last := firstVersion + len(s.objects)
	if told {
		last += s.job.events + s.job.changed
	}
	for index, object := range s.objects {
		if told {
			copy(object.item[object.itemVersion:], s.versionOf(index))
		} else {
			copy(object.item[object.itemVersion:], strconv.Itoa(firstVersion+index+1))
		}
	}
	writer.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	items := make([][]byte, len(s.objects))
	for index, object := range s.objects {
		items[index] = object.item
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.Itoa(last)}
	_, err := writer.Write(encodeList(runtime.TypeMeta{Kind: "PodList", APIVersion: "v1"}, meta, items))
	check(err)
}

func encodeList(typeMeta runtime.TypeMeta, listMeta metav1.ListMeta, items [][]byte) []byte {
	meta, err := listMeta.Marshal()
	check(err)
	body := field(nil, 1, meta)
	for _, item := range items {
		body = field(body, 2, item)
	}
	unknown, err := (&runtime.Unknown{TypeMeta: typeMeta, Raw: body}).Marshal()
	check(err)
	return append([]byte("k8s\x00"), unknown...)
}

func field(buffer []byte, number int, value []byte) []byte {
	buffer = append(buffer, byte(number<<3|2))
	buffer = binary.AppendUvarint(buffer, uint64(len(value)))
	return append(buffer, value...)
}

// versionOf is the version of an object after the events and the changes nobody was told of.
func (s *server) versionOf(index int) string {
	if index < s.job.changed {
		return strconv.Itoa(firstVersion + s.job.pods + s.job.events + index + 1)
	}
	count := s.job.pods
	rounds := (s.job.events - index + count - 1) / count
	if rounds <= 0 {
		return strconv.Itoa(firstVersion + index + 1)
	}
	return strconv.Itoa(firstVersion + count + (rounds-1)*count + index + 1)
}

func (s *server) watch(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	writer.WriteHeader(http.StatusOK)
	flusher := writer.(http.Flusher)
	flusher.Flush()
	if s.told.Swap(true) {
		<-request.Context().Done()
		return
	}
	time.Sleep(500 * time.Millisecond)
	for event := range s.job.events {
		object := s.objects[event%s.job.pods]
		copy(object.event[object.eventVersion:], strconv.Itoa(firstVersion+s.job.pods+event+1))
		if _, err := writer.Write(object.event); err != nil {
			return
		}
		flusher.Flush()
	}
	expire(writer)
}

// expire ends a watch. The client may have gone.
func expire(writer http.ResponseWriter) {
	status := &metav1.Status{Status: "Failure", Reason: metav1.StatusReasonExpired, Code: 410, Message: "too old resource version"}
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	_, _ = writer.Write(frame("ERROR", status))
}
