// Deletes a capture, its image and all other stored data: node delete.mts ID
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env
const [, , id = ''] = process.argv

await new Shutterfleet({ baseUrl, apiKey }).delete(id)
console.log(`deleted ${id}`)
