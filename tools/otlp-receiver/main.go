// A receiver of traces and logs by OTLP over HTTP (protobuf) for tests: decodes each request with OpenTelemetry's own definitions and
// prints it as one line of JSON (protojson). The first line is its address. With `hang` as argument it never answers.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const bodyBytesMax = 16 << 20

func receiver(create func() (sent, answer proto.Message)) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		sent, answer := create()
		receive(response, request, sent, answer)
	}
}

func receive(response http.ResponseWriter, request *http.Request, sent, answer proto.Message) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	if err != nil || request.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(response, "want a body of protobuf", http.StatusBadRequest)
		return
	}
	if err := proto.Unmarshal(body, sent); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Println(protojson.MarshalOptions{}.Format(sent))
	bytes, _ := proto.Marshal(answer)
	response.Header().Set("Content-Type", "application/x-protobuf")
	response.Write(bytes)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	traces := receiver(func() (sent, answer proto.Message) {
		return &trace.ExportTraceServiceRequest{}, &trace.ExportTraceServiceResponse{}
	})
	entries := receiver(func() (sent, answer proto.Message) {
		return &logs.ExportLogsServiceRequest{}, &logs.ExportLogsServiceResponse{}
	})
	if len(os.Args) > 1 && os.Args[1] == "hang" {
		traces = func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }
		entries = traces
	}
	http.HandleFunc("POST /v1/traces", traces)
	http.HandleFunc("POST /v1/logs", entries)
	log.Fatal(http.Serve(listener, nil))
}
