package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// followMarkers runs one shared informer of config maps for each URL until standard input ends. Each time one sees a
// marker, an object with a writtenAt in its data, it prints a line: the index of the URL, the milliseconds since 1970 at
// which it saw the marker, its writtenAt, and how many lists and watches the informer has begun.
func followMarkers(namespace, kubeconfig string, urls []string) {
	klog.LogToStderr(false) // faults are expected
	klog.SetOutput(io.Discard)
	var printing sync.Mutex
	stop := make(chan struct{})
	for index, url := range urls {
		config, err := clientcmd.BuildConfigFromFlags(url, kubeconfig)
		check(err)
		config.QPS = -1
		requests := &requests{}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			requests.next = next
			return requests
		})
		clients, err := kubernetes.NewForConfig(config)
		check(err)
		factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
		informer := factory.Core().V1().ConfigMaps().Informer()
		check(informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		seen := func(object any) {
			writtenAt := object.(*corev1.ConfigMap).Data["writtenAt"]
			if writtenAt == "" {
				return
			}
			now := time.Now().UnixMilli()
			printing.Lock()
			defer printing.Unlock()
			fmt.Println(index, now, writtenAt, requests.lists.Load(), requests.watches.Load())
		}
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    seen,
			UpdateFunc: func(_, object any) { seen(object) },
		})
		check(err)
		go informer.Run(stop)
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	check(err)
	close(stop)
}

// requests counts on the way to the server. A streaming list is a list; of a list in pages the first one counts.
type requests struct {
	next           http.RoundTripper
	lists, watches atomic.Int64
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	watch, _ := strconv.ParseBool(query.Get("watch"))
	initial, _ := strconv.ParseBool(query.Get("sendInitialEvents"))
	switch {
	case watch && !initial:
		r.watches.Add(1)
	case query.Get("continue") == "":
		r.lists.Add(1)
	}
	return r.next.RoundTrip(request)
}
