// Reads records of today and of tomorrow, with the client that OpenAPI Generator generated.
package main

import (
	"context"
	"log"
	"os"

	"shutterfleet/tools/openapi/shots"
)

func main() {
	log.SetFlags(0)
	for name, status := range map[string]string{"TODAY_URL": "completed", "TOMORROW_URL": "of_tomorrow"} {
		configuration := shots.NewConfiguration()
		configuration.Servers = shots.ServerConfigurations{{URL: os.Getenv(name)}}
		client := shots.NewAPIClient(configuration)
		record, _, err := client.ScreenshotsAPI.Status(context.Background(), "3f2504e0-4f89-41d3-9a0c-0305e82c3301").Execute()
		if err != nil || record.Data.Status != status {
			log.Fatalf("no record at %s: %v", name, err)
		}
		page, _, err := client.ScreenshotsAPI.List(context.Background()).Execute()
		if err != nil || page.Data[0].Status != status {
			log.Fatalf("no list at %s: %v", name, err)
		}
	}
}
