// Asynchronous capture: create, wait for the end, download. node create-and-wait.mts [PAGE] [FILE]
import { writeFile } from 'node:fs/promises'
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env
const [, , page = 'https://example.com', file = 'page.webp'] = process.argv

const shots = new Shutterfleet({ baseUrl, apiKey })
const { id } = await shots.create({ url: page, format: 'webp' })
const record = await shots.waitFor(id)
if (record.error) throw new Error(`${record.error.code}: ${record.error.message}`)
await writeFile(file, (await shots.image(id)).bytes)
console.log(`wrote ${file}, ${record.width} x ${record.height}`)
