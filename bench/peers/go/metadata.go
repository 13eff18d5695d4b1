package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
)

// followMetadata runs a shared informer of the metadata of pods, which asks for protobuf.
func followMetadata(job job) {
	clients, err := metadata.NewForConfig(configOf(job))
	check(err)
	factory := metadatainformer.NewSharedInformerFactory(clients, 0)
	measure(job, factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer())
}

// partial is the metadata of a pod as the server sends it.
func partial(pod *corev1.Pod) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: partialType, ObjectMeta: pod.ObjectMeta}
}

var partialType = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}

// message is an object that can be encoded as an item of a list, and in an envelope of its own.
type message interface {
	runtime.Object
	Marshal() ([]byte, error)
}
