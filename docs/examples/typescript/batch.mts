// Many pages with one request, each reported when it ends: node batch.mts PAGE...
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env
const pages = process.argv.slice(2)

const shots = new Shutterfleet({ baseUrl, apiKey })
const urls = pages.length > 0 ? pages : ['https://example.com', 'https://example.org']
const { id } = await shots.batch({ urls, format: 'jpeg' })
for await (const { event, data } of shots.batchEvents(id)) {
  if (event === 'screenshot') console.log(data.status, data.url, data.error?.code ?? data.image_url)
  if (event === 'result') console.log(`${data.completed} of ${data.total} completed`)
}
