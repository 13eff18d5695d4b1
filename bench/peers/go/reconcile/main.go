// Runs a controller of controller-runtime, with its defaults and 8 workers, on the job of bench/peers/reconcile.ts: one
// status patch for each object.
//
//	reconcile KUBECONFIG OBJECTS ROUND
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Spec is the desired state.
type Spec struct {
	Schedule string `json:"schedule"`
	Image    string `json:"image"`
	Replicas int    `json:"replicas"`
}

// Status is the observed state; Round is the number of the run that has written it.
type Status struct {
	Round    int `json:"round,omitempty"`
	Replicas int `json:"replicas,omitempty"`
}

// CronTab is the custom resource whose objects are reconciled.
type CronTab struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec,omitempty"`
	Status            Status `json:"status,omitempty"`
}

// DeepCopy copies an object.
func (in *CronTab) DeepCopy() *CronTab {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject copies an object.
func (in *CronTab) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// CronTabList is a list of them.
type CronTabList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronTab `json:"items"`
}

// DeepCopyObject copies a list.
func (in *CronTabList) DeepCopyObject() runtime.Object {
	out := CronTabList{TypeMeta: in.TypeMeta, Items: make([]CronTab, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return &out
}

type reconciler struct {
	client.Client
	objects, round int
	mutex          sync.Mutex
	done           map[types.NamespacedName]bool
	finished       chan struct{}
}

// Reconcile writes the status of an object, or counts it when the cache has the status of this round.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var tab CronTab
	if err := r.Get(ctx, request.NamespacedName, &tab); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if tab.Status.Round != r.round {
		patch := client.MergeFrom(tab.DeepCopy())
		tab.Status = Status{Round: r.round, Replicas: tab.Spec.Replicas}
		return ctrl.Result{}, r.Status().Patch(ctx, &tab, patch)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.done[request.NamespacedName] {
		r.done[request.NamespacedName] = true
		if len(r.done) == r.objects {
			close(r.finished)
		}
	}
	return ctrl.Result{}, nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: reconcile KUBECONFIG OBJECTS ROUND")
		os.Exit(2)
	}
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	config.QPS = -1
	objects, err := strconv.Atoi(os.Args[2])
	check(err)
	round, err := strconv.Atoi(os.Args[3])
	check(err)

	version := schema.GroupVersion{Group: "bench.example.com", Version: "v1"}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(version, &CronTab{}, &CronTabList{})
	metav1.AddToGroupVersion(scheme, version)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	check(err)
	reconciler := &reconciler{
		Client:   manager.GetClient(),
		objects:  objects,
		round:    round,
		done:     map[types.NamespacedName]bool{},
		finished: make(chan struct{}),
	}
	check(ctrl.NewControllerManagedBy(manager).For(&CronTab{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8}).Complete(reconciler))
	go func() { check(manager.Start(context.Background())) }()
	<-reconciler.finished
	fmt.Println("done")
	// The parent reads memory and CPU time of a process that is still there.
	_, err = io.Copy(io.Discard, os.Stdin)
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1)
	}
}
