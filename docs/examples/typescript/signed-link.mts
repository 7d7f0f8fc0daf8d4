// A signed link to an image, valid for ten minutes: node signed-link.mts [PAGE]
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env
const [, , page = 'https://example.com'] = process.argv

const shots = new Shutterfleet({ baseUrl, apiKey })
const { id } = await shots.captureRecord({ url: page })
console.log((await shots.signedUrl(id, { expiresIn: 10 })).url)
