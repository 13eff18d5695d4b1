package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// recording is a server that repeats in protobuf what the JSON server has sent it: lists, events, lists again. All of it
// is encoded before the first request.
type recording struct {
	collections []*collection
	events      []event

	mutex   sync.Mutex
	told    bool
	watches map[int]http.ResponseWriter
	done    chan struct{}
}

// collection is a collection that clients follow. The watch of the first one expires after the events.
type collection struct {
	path          string
	make          func() encodable
	before, after []byte
}

// event is an event of the collection at this index.
type event struct {
	collection, version int
	bytes               []byte
}

type encodable interface {
	runtime.Object
	metav1.Object
	Marshal() ([]byte, error)
}

func collectionsOf(job job) []*collection {
	if job.mix == "heartbeats" {
		return []*collection{
			{path: "/api/v1/nodes", make: func() encodable { return &corev1.Node{} }},
			{path: "/apis/coordination.k8s.io/v1/leases", make: func() encodable { return &coordinationv1.Lease{} }},
		}
	}
	return []*collection{{path: "/api/v1/pods", make: func() encodable { return &corev1.Pod{} }}}
}

// record lets the JSON server do its job once, and encodes what it sends. The JSON server has to be reset afterwards.
func record(job job) *recording {
	recording := &recording{collections: collectionsOf(job)}
	for _, collection := range recording.collections {
		collection.before = collection.list(job.url)
	}
	found := make(chan event)
	ctx, cancel := context.WithCancel(context.Background())
	for index, collection := range recording.collections {
		go collection.watch(ctx, job.url, index, found)
	}
	for range job.events {
		recording.events = append(recording.events, <-found)
	}
	cancel()
	slices.SortFunc(recording.events, func(a, b event) int { return a.version - b.version })
	for _, collection := range recording.collections {
		collection.after = collection.list(job.url)
	}
	recording.reset()
	return recording
}

func (c *collection) list(url string) []byte {
	response, err := http.Get(url + c.path)
	check(err)
	var list struct {
		metav1.TypeMeta
		Metadata metav1.ListMeta
		Items    []json.RawMessage
	}
	check(json.NewDecoder(response.Body).Decode(&list))
	check(response.Body.Close())
	items := make([][]byte, len(list.Items))
	for index, text := range list.Items {
		object := c.make()
		check(json.Unmarshal(text, object))
		items[index], err = object.Marshal()
		check(err)
	}
	return encodeList(runtime.TypeMeta{Kind: list.Kind, APIVersion: list.APIVersion}, list.Metadata, items)
}

// watch encodes the events of a watch until it ends or is canceled.
func (c *collection) watch(ctx context.Context, url string, index int, found chan<- event) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+c.path+"?watch=1", nil)
	check(err)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF || ctx.Err() != nil {
			return
		}
		check(err)
		var received struct {
			Type   string
			Object json.RawMessage
		}
		check(json.Unmarshal(line, &received))
		if received.Type == "ERROR" {
			return
		}
		object := c.make()
		check(json.Unmarshal(received.Object, object))
		version, err := strconv.Atoi(object.GetResourceVersion())
		check(err)
		found <- event{collection: index, version: version, bytes: frame(received.Type, object)}
	}
}

func (r *recording) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	index := slices.IndexFunc(r.collections, func(c *collection) bool { return c.path == request.URL.Path })
	switch {
	case request.URL.Path == "/reset":
		r.reset()
	case index == -1:
		http.NotFound(writer, request)
	case query.Get("watch") == "":
		list := r.collections[index].before
		if r.isTold() {
			list = r.collections[index].after
		}
		writer.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, err := writer.Write(list)
		check(err)
	case query.Get("sendInitialEvents") != "":
		refuseStreamingList(writer)
	default:
		r.watch(writer, request, index)
	}
}

// reset restores the state before the first watch.
func (r *recording) reset() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.told = false
	r.watches = map[int]http.ResponseWriter{}
	r.done = make(chan struct{})
}

func (r *recording) isTold() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.told
}

// watch sends the events when the first watches of all collections have begun. A later watch is silent.
func (r *recording) watch(writer http.ResponseWriter, request *http.Request, index int) {
	writer.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	writer.WriteHeader(http.StatusOK)
	writer.(http.Flusher).Flush()
	r.mutex.Lock()
	told, done, watches := r.told, r.done, r.watches
	watches[index] = writer
	isLast := len(watches) == len(r.collections)
	r.told = told || isLast
	r.mutex.Unlock()
	if !told {
		if isLast {
			if err := r.tell(watches); err != nil {
				return
			}
			close(done)
		}
		select {
		case <-done:
		case <-request.Context().Done():
			return
		}
		if index == 0 {
			expire(writer)
			return
		}
	}
	<-request.Context().Done()
}

func (r *recording) tell(watches map[int]http.ResponseWriter) error {
	time.Sleep(500 * time.Millisecond)
	for _, event := range r.events {
		writer := watches[event.collection]
		if _, err := writer.Write(event.bytes); err != nil {
			return fmt.Errorf("the client has gone: %w", err)
		}
		writer.(http.Flusher).Flush()
	}
	return nil
}
