// A key for pages of one host, which is then revoked: node keys.mts [HOST]
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env
const [, , host = 'example.com'] = process.argv

const { keys } = new Shutterfleet({ baseUrl, apiKey })
const { id, key } = await keys.create({ name: 'Website', domains: [host] })
console.log(key)
for (const { name, prefix } of await keys.list()) console.log(`${prefix}… ${name}`)
await keys.revoke(id)
console.log(`revoked ${id}`)
