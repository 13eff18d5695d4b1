// Measures client-go on the same job as the other clients, serves that job in protobuf, and follows markers through
// network faults.
//
//	client-go client URL PODS EVENTS CHANGED json|protobuf MIX
//	client-go serve URL PODS EVENTS CHANGED - MIX
//	client-go markers NAMESPACE KUBECONFIG URL...
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) > 4 && os.Args[1] == "markers" {
		followMarkers(os.Args[2], os.Args[3], os.Args[4:])
		return
	}
	if len(os.Args) < 8 {
		fmt.Fprintln(os.Stderr, "usage: client-go client|serve URL PODS EVENTS CHANGED json|protobuf|- MIX")
		fmt.Fprintln(os.Stderr, "       client-go markers NAMESPACE KUBECONFIG URL...")
		os.Exit(2)
	}
	job := job{
		url: os.Args[2], pods: number(os.Args[3]), events: number(os.Args[4]), changed: number(os.Args[5]),
		mix: os.Args[7],
	}
	if os.Args[1] == "serve" {
		serve(job)
		return
	}
	follow(job, os.Args[6] == "protobuf")
}

// job is what a client has to do: sync, follow events, and get over a relist.
type job struct {
	url                   string
	pods, events, changed int
	// What an event changes: bench/peers/mixes.ts has the objects.
	mix string
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "client-go:", err)
		os.Exit(1)
	}
}
