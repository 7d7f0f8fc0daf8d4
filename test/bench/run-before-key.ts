// What the gateway's event loop does for requests whose key does not exist. `make bench-before-key`
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createApp } from '#gateway/app.ts'
import { createKeyGuesses } from '#gateway/http/identification/key-guesses.ts'
import { createTestContext, testCaller, testKey } from '#test/helpers/gateway-context.ts'
import { type HostileRequest, hostileRequests } from './hostile-requests.ts'
import { machine, table, writePart } from './page.ts'

const boundMs = 10
const clientOf = 'client'
const bodyBytes = 16 * 1024
const largestBytes = 7 * 1024 * 1024 - 1000
const isClient = process.argv[2] === clientOf
const rounds = Number(process.argv[2] ?? 5)
const part = process.argv[3] ?? ''
const shown = 5

const requests = hostileRequests(bodyBytes, largestBytes).filter(({ name }) => name.includes(part))

/** Sends the requests of which it gets the number, each on a connection of its own, and says the status of the answer. */
const runClient = (port: number) => {
  process.on('message', (index: number) => {
    const { head, body } = requests[index] as HostileRequest
    const socket = connect(port, '127.0.0.1')
    const type = 'content-type: application/json\r\nconnection: close\r\nhost: a\r\n'
    socket.write(`${head}authorization: Bearer ${testKey}\r\n${type}\r\n`)
    socket.end(body)
    let answer = ''
    socket.setEncoding('latin1').on('data', (data: string) => (answer += data))
    socket.on('error', () => {})
    socket.on('close', () => process.send?.(answer.slice(9, 12)))
  })
}

type Cost = { readonly name: string; readonly bytes: number; readonly status: string; readonly ms: number }

/** The processor time of the thread of the event loop, the least of all rounds: what comes beside is the machine's. */
const measure = async (client: ChildProcess, { name, head, body }: HostileRequest, index: number): Promise<Cost> => {
  let ms = Infinity
  let status = ''
  for (let round = 0; round < rounds; round += 1) {
    const before = process.threadCpuUsage()
    client.send(index)
    const [answered] = (await once(client, 'message')) as [string]
    const { user, system } = process.threadCpuUsage(before)
    ms = Math.min(ms, (user + system) / 1000)
    status = answered
  }
  return { name, bytes: head.length + body.length, status, ms }
}

const run = async () => {
  const context = createTestContext()
  const unknown = { ok: false, code: 'INVALID_API_KEY', caller: undefined, isUnknown: true } as const
  context.answers.check = () => ({ ...unknown, caller: testCaller })
  context.answers.accept = () => ({ ...unknown, caller: testCaller })
  const keyGuesses = createKeyGuesses({ perMinute: 1e9, nowMs: () => performance.now(), isValid: async () => false })
  const app = createApp({ ...context, keyGuesses })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const client = fork(import.meta.filename, [clientOf, part, String(port)])
  const costs: Cost[] = []
  for (const [index, request] of requests.entries()) costs.push(await measure(client, request, index))
  client.disconnect()
  await app.close()
  const worst = costs.toSorted((one, other) => other.ms - one.ms).slice(0, shown)
  const text = `## Before a request's key is known

Made by \`make bench-before-key\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. What ${requests.length} hostile requests with a key
that does not exist cost the gateway's event loop, the least of ${rounds} times each; the worst of them:

${table(
  ['request', 'bytes', 'status', `ms (bound ${boundMs})`],
  worst.map(({ name, bytes, status, ms }) => [name, bytes, status, ms.toFixed(2)]),
)}
`
  if (part === '') writePart('before the key', text)
  console.log(text)
  if (worst.some(({ ms }) => ms > boundMs)) process.exitCode = 1
}

if (isClient) runClient(Number(process.argv[4]))
else await run()
