// A receiver of traces by OTLP over HTTP (protobuf) for tests: decodes each request with OpenTelemetry's own definitions and
// prints it as one line of JSON (protojson). The first line is its address. With `hang` as argument it never answers.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	trace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const bodyBytesMax = 16 << 20

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	if err != nil || request.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(response, "want a body of protobuf", http.StatusBadRequest)
		return
	}
	sent := &trace.ExportTraceServiceRequest{}
	if err := proto.Unmarshal(body, sent); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Println(protojson.MarshalOptions{}.Format(sent))
	answer, _ := proto.Marshal(&trace.ExportTraceServiceResponse{})
	response.Header().Set("Content-Type", "application/x-protobuf")
	response.Write(answer)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	handle := receive
	if len(os.Args) > 1 && os.Args[1] == "hang" {
		handle = func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }
	}
	http.HandleFunc("POST /v1/traces", handle)
	log.Fatal(http.Serve(listener, nil))
}
