// Captures a page as PNG to standard output, with the client that oapi-codegen generated, and reads records of tomorrow.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

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
	tomorrow, err := shots.NewClientWithResponses(os.Getenv("TOMORROW_URL"))
	if err != nil {
		log.Fatal(err)
	}
	record, err := tomorrow.StatusWithResponse(ctx, uuid.MustParse("3f2504e0-4f89-41d3-9a0c-0305e82c3301"), nil)
	if err != nil || record.JSON200 == nil || record.JSON200.Data.Status != "of_tomorrow" {
		log.Fatalf("no record of tomorrow: %v", err)
	}
	page, err := tomorrow.ListWithResponse(ctx, nil)
	if err != nil || page.JSON200 == nil || page.JSON200.Data[0].Status != "of_tomorrow" {
		log.Fatalf("no list of tomorrow: %v", err)
	}
	os.Stdout.Write(picture.Body)
}
