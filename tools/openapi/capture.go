// Captures a page as PNG to standard output, with the client that oapi-codegen generated.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"shutterfleet/tools/openapi/shots"
)

func main() {
	log.SetFlags(0)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	identify := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("SHUTTERFLEET_KEY"))
		return nil
	}
	client, err := shots.NewClientWithResponses(os.Getenv("SHUTTERFLEET_URL"), shots.WithRequestEditorFn(identify))
	if err != nil {
		log.Fatal(err)
	}
	picture, err := client.CapturePostWithResponse(ctx, nil, shots.CaptureParameters{Html: &os.Args[1]})
	if err != nil || picture.StatusCode() != http.StatusOK {
		log.Fatalf("no picture: %v %s", err, picture.Body)
	}
	used, err := client.UsageWithResponse(ctx, nil)
	if err != nil || used.JSON200 == nil || used.JSON200.Data.ScreenshotsUsed < 1 {
		log.Fatalf("no usage: %v %s", err, used.Body)
	}
	os.Stdout.Write(picture.Body)
}
