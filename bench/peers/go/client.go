package main

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// configOf is the configuration for a URL, or for a kubeconfig.
func configOf(job job) *rest.Config {
	config := &rest.Config{Host: job.url}
	if strings.HasPrefix(job.url, "/") {
		var err error
		config, err = clientcmd.BuildConfigFromFlags("", job.url)
		check(err)
	}
	config.QPS = -1
	return config
}

// follow runs a typed shared informer for each collection of the mix.
func follow(job job, protobuf bool) {
	config := configOf(job)
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	if protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf"
	}
	clients, err := kubernetes.NewForConfig(config)
	check(err)
	factory := informers.NewSharedInformerFactory(clients, 0)
	if job.mix == "heartbeats" {
		measure(job, factory.Core().V1().Nodes().Informer(), factory.Coordination().V1().Leases().Informer())
		return
	}
	measure(job, factory.Core().V1().Pods().Informer())
}

// readFields reads a field of an object's metadata, of its spec and of its status. It returns how many of them are set.
func readFields(object any) int {
	fields := 0
	count := func(set bool) {
		if set {
			fields++
		}
	}
	switch object := object.(type) {
	case *corev1.Pod:
		count(object.ResourceVersion != "")
		count(object.Spec.NodeName != "")
		count(object.Status.Phase != "")
	case *corev1.Node:
		count(object.ResourceVersion != "")
		count(object.Spec.PodCIDR != "")
		count(object.Status.NodeInfo.KubeletVersion != "")
	case *coordinationv1.Lease: // it has no status
		count(object.ResourceVersion != "")
		count(object.Spec.HolderIdentity != nil)
	}
	return fields
}

// measure runs shared informers with one handler each, which reads fields and counts.
func measure(job job, informers ...cache.SharedIndexInformer) {
	stall := watchStalls()
	began := time.Now()
	var counting sync.Mutex // informers call their handlers at the same time
	var synced, first, last time.Time
	added, updated, relisted, read := 0, 0, 0, 0
	done := make(chan time.Time, 1)
	// An event, or after the last of them a change that a relist brings.
	seen := func() {
		if updated < job.events {
			if updated++; updated == 1 {
				first = time.Now()
			}
			if updated == job.events {
				last = time.Now()
			}
			return
		}
		if relisted++; relisted == job.changed {
			done <- time.Now()
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			counting.Lock()
			defer counting.Unlock()
			read += readFields(object)
			if added == job.pods {
				seen()
				return
			}
			if added++; added == job.pods {
				synced = time.Now()
				if job.events == 0 {
					done <- synced // only the list is measured
				}
			}
		},
		UpdateFunc: func(before, after any) {
			// A relist tells of unchanged objects too.
			if before.(metav1.Object).GetResourceVersion() == after.(metav1.Object).GetResourceVersion() {
				return
			}
			counting.Lock()
			defer counting.Unlock()
			read += readFields(after)
			seen()
		},
		DeleteFunc: func(object any) {
			counting.Lock()
			defer counting.Unlock()
			read += readFields(object)
			seen()
		},
	}
	stop := make(chan struct{})
	for _, informer := range informers {
		_, err := informer.AddEventHandler(handler)
		check(err)
	}
	for _, informer := range informers {
		go informer.Run(stop)
	}
	end := <-done
	values := map[string]float64{
		"syncMs":  milliseconds(synced.Sub(began)),
		"stallMs": milliseconds(time.Duration(stall.Load())),
	}
	if job.events > 0 {
		values["eventsPerSecond"] = float64(job.events-1) / last.Sub(first).Seconds()
		values["relistMs"] = milliseconds(end.Sub(last))
	}
	report(values)
	// The parent reads memory and CPU time of a process that is still there.
	_, err := io.Copy(io.Discard, os.Stdin)
	check(err)
}

// watchStalls keeps the longest delay of a goroutine that wants to run every 2 ms.
func watchStalls() *atomic.Int64 {
	worst := &atomic.Int64{}
	go func() {
		const period = 2 * time.Millisecond
		for last := time.Now(); ; {
			time.Sleep(period)
			now := time.Now()
			if late := int64(now.Sub(last) - period); late > worst.Load() {
				worst.Store(late)
			}
			last = now
		}
	}()
	return worst
}

func milliseconds(duration time.Duration) float64 {
	value, err := strconv.ParseFloat(strconv.FormatFloat(float64(duration)/1e6, 'f', 2, 64), 64)
	check(err)
	return value
}

func report(values map[string]float64) {
	check(json.NewEncoder(os.Stdout).Encode(values))
}
