// Sends admission reviews to a webhook server over TLS, in turns to the validating and the mutating webhook, as fast as
// the answers come. It checks each answer. It prints one line of JSON, and ends with its standard input.
//
// Each connection is kept. With FRESH, so many more clients make a new connection, with a full handshake, for each
// review. HTTP/1.1, as kube-apiserver has it for webhooks. REVIEWS is a file with one review a line.
//
//	load URL CA REVIEWS SECONDS KEPT FRESH
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

var paths = []string{"/validate/validate.v1.pods.core", "/mutate/mutate.v1.pods.core"}

const label = "/metadata/labels/bench.example.com~1reviewed"

type sent struct {
	uid  string
	body []byte
}

type answer struct {
	Response struct {
		UID     string `json:"uid"`
		Allowed bool   `json:"allowed"`
		Patch   []byte `json:"patch"`
	} `json:"response"`
}

// client has the figures of one client.
type client struct {
	http     *http.Client
	took     []float64
	serials  map[string]bool
	failures []string
}

type report struct {
	Reviews      int     `json:"reviews"`
	Seconds      float64 `json:"seconds"`
	P50Ms        float64 `json:"p50Ms"`
	P99Ms        float64 `json:"p99Ms"`
	Failed       int     `json:"failed"`
	Failure      string  `json:"failure,omitempty"`
	Certificates int     `json:"certificates"`
}

// review sends one review, and returns what is wrong with the answer.
func (c *client) review(url string, mutates bool, review sent) error {
	response, err := c.http.Post(url+"?timeout=10s", "application/json", bytes.NewReader(review.body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	c.serials[response.TLS.PeerCertificates[0].SerialNumber.String()] = true
	var got answer
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	if !got.Response.Allowed || got.Response.UID != review.uid {
		return fmt.Errorf("not allowed, or for another review: %s", text)
	}
	if !mutates {
		return nil
	}
	var patch []struct{ Op, Path, Value string }
	if err := json.Unmarshal(got.Response.Patch, &patch); err != nil {
		return err
	}
	if len(patch) != 1 || patch[0].Op != "add" || patch[0].Path != label || patch[0].Value != "true" {
		return fmt.Errorf("another patch: %s", got.Response.Patch)
	}
	return nil
}

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: load URL CA REVIEWS SECONDS KEPT FRESH")
		os.Exit(2)
	}
	url, seconds, kept, fresh := os.Args[1], number(os.Args[4]), number(os.Args[5]), number(os.Args[6])
	pem, err := os.ReadFile(os.Args[2])
	check(err)
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem) {
		check(errors.New("the file has no certificate"))
	}
	reviews := read(os.Args[3])
	clients := make([]*client, kept+fresh)
	for i := range clients {
		clients[i] = &client{serials: map[string]bool{}, http: &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: authorities, NextProtos: []string{"http/1.1"}},
			DisableKeepAlives: i >= kept,
		}}}
		// The handshake of a kept connection is not part of the figures.
		check(clients[i].review(url+paths[0], false, reviews[0]))
	}
	var group sync.WaitGroup
	began := time.Now()
	end := began.Add(time.Duration(seconds) * time.Second)
	for i, client := range clients {
		group.Go(func() {
			for at := i; ; at++ {
				now := time.Now()
				if now.After(end) {
					return
				}
				way := at % len(paths)
				if err := client.review(url+paths[way], way == 1, reviews[at%len(reviews)]); err != nil {
					client.failures = append(client.failures, err.Error())
				}
				client.took = append(client.took, time.Since(now).Seconds()*1_000)
			}
		})
	}
	group.Wait()
	result := report{Seconds: time.Since(began).Seconds()}
	serials := map[string]bool{}
	var took []float64
	for _, client := range clients {
		took = append(took, client.took...)
		result.Failed += len(client.failures)
		if len(client.failures) > 0 {
			result.Failure = client.failures[0]
		}
		for serial := range client.serials {
			serials[serial] = true
		}
	}
	slices.Sort(took)
	result.Reviews, result.Certificates = len(took)-result.Failed, len(serials)
	result.P50Ms, result.P99Ms = took[len(took)/2], took[len(took)*99/100]
	check(json.NewEncoder(os.Stdout).Encode(result))
	_, err = io.Copy(io.Discard, os.Stdin)
	check(err)
}

// read returns the reviews of a file.
func read(file string) []sent {
	text, err := os.ReadFile(file)
	check(err)
	var reviews []sent
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		check(json.Unmarshal(line, &review))
		reviews = append(reviews, sent{review.Request.UID, line})
	}
	return reviews
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
