// Synchronous capture, without ads and chats: node capture.mts [PAGE] [FILE]
import { writeFile } from 'node:fs/promises'
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env
const [, , page = 'https://example.com', file = 'page.png'] = process.argv

const shots = new Shutterfleet({ baseUrl, apiKey })
const image = await shots.capture({ url: page, full_page: true, block_ads: true, block_chats: true })
await writeFile(file, image.bytes)
console.log(`wrote ${file}`)
