// All captures that have completed, newest first: node list.mts
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env

const shots = new Shutterfleet({ baseUrl, apiKey })
for await (const { id, url, created_at } of shots.list({ status: 'completed', perPage: 100 })) {
  console.log(created_at, id, url ?? '(no address)')
}
