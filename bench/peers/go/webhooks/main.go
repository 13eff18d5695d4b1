// Serves the two admission webhooks of bench/webhooks.ts by controller-runtime, with its defaults. Prints its URL, and
// ends with its standard input. The folder has tls.crt and tls.key.
//
// With "typed", they are a Validator and a Defaulter, as kubebuilder writes them. With "handler", they are admission
// handlers that decode both objects and return a patch from the changed object.
//
//	webhooks FOLDER typed|handler
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// check is the work of the validating webhook: it reads two fields.
func check(old, pod *corev1.Pod) error {
	if pod.Spec.NodeName != old.Spec.NodeName || pod.Spec.ServiceAccountName != old.Spec.ServiceAccountName {
		return fmt.Errorf("the node and the service account cannot change")
	}
	return nil
}

// change is the work of the mutating webhook: it reads two fields and adds a label.
func change(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" || pod.Spec.ServiceAccountName == "" {
		return
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["bench.example.com/reviewed"] = "true"
}

type validator struct{}

func (validator) ValidateCreate(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func (validator) ValidateUpdate(_ context.Context, old, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, check(old, pod)
}

func (validator) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

type defaulter struct{}

func (defaulter) Default(_ context.Context, pod *corev1.Pod) error {
	change(pod)
	return nil
}

// handlers decode both objects themselves.
type handlers struct{ admission.Decoder }

func (h handlers) decode(request admission.Request) (old, pod *corev1.Pod, err error) {
	old, pod = &corev1.Pod{}, &corev1.Pod{}
	if err = h.DecodeRaw(request.OldObject, old); err == nil {
		err = h.DecodeRaw(request.Object, pod)
	}
	return old, pod, err
}

func (h handlers) validate(_ context.Context, request admission.Request) admission.Response {
	old, pod, err := h.decode(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if err := check(old, pod); err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}

func (h handlers) mutate(_ context.Context, request admission.Request) admission.Response {
	_, pod, err := h.decode(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	change(pod)
	changed, err := json.Marshal(pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: webhooks FOLDER typed|handler")
		os.Exit(2)
	}
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	fail(corev1.AddToScheme(scheme))
	port := freePort()
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[1]})
	validate := admission.WithValidator[*corev1.Pod](scheme, validator{})
	mutate := admission.WithDefaulter[*corev1.Pod](scheme, defaulter{})
	if os.Args[2] == "handler" {
		own := handlers{admission.NewDecoder(scheme)}
		validate = &webhook.Admission{Handler: admission.HandlerFunc(own.validate)}
		mutate = &webhook.Admission{Handler: admission.HandlerFunc(own.mutate)}
	}
	server.Register("/validate/validate.v1.pods.core", validate)
	server.Register("/mutate/mutate.v1.pods.core", mutate)
	go func() { fail(server.Start(context.Background())) }()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for {
		connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			fail(connection.Close())
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("https://" + address)
	_, err := io.Copy(io.Discard, os.Stdin)
	fail(err)
}

// freePort returns a port that is free now: the server of controller-runtime takes 0 for its default.
func freePort() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "webhooks:", err)
		os.Exit(1)
	}
}
