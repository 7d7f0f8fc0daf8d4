import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { createApp } from '#gateway/app.ts'
import { createKeyGuesses } from '#gateway/http/identification/key-guesses.ts'
import { createTestContext, testCaller } from '#test/helpers/gateway-context.ts'
import type { HostileRequest } from './hostile-requests.ts'

const program = resolve(import.meta.dirname, 'hostile-client.ts')

/** What a request cost the gateway's event loop, in processor milliseconds. */
export type Cost = { readonly name: string; readonly bytes: number; readonly status: string; readonly ms: number }

/** The processor time of the thread of the event loop, the least of all rounds: what comes beside is the machine's. */
const measureOne = async (client: ChildProcess, request: HostileRequest, rounds: number): Promise<Cost> => {
  // Before anything is counted: this thread writes it too.
  client.send(request)
  await once(client, 'message')
  let ms = Infinity
  let status = ''
  for (let round = 0; round < rounds; round += 1) {
    const before = process.threadCpuUsage()
    client.send('send')
    const [text] = (await once(client, 'message')) as [string]
    const { user, system } = process.threadCpuUsage(before)
    ms = Math.min(ms, (user + system) / 1000)
    status = text
  }
  const { name, head, body } = request
  return { name, bytes: head.length + body.length, status, ms }
}

/** Measures what requests whose key does not exist cost, each the least of `rounds`. */
export const measureBeforeKey = async (requests: readonly HostileRequest[], rounds: number): Promise<Cost[]> => {
  const context = createTestContext()
  const unknown = { ok: false, code: 'INVALID_API_KEY', caller: undefined, isUnknown: true } as const
  context.answers.check = () => ({ ...unknown, caller: testCaller })
  context.answers.accept = () => ({ ...unknown, caller: testCaller })
  const keyGuesses = createKeyGuesses({ perMinute: 1e9, nowMs: () => performance.now(), isValid: async () => false })
  const app = createApp({ ...context, keyGuesses })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const client = fork(program, [String(port)])
  const costs: Cost[] = []
  for (const request of requests) costs.push(await measureOne(client, request, rounds))
  client.disconnect()
  await app.close()
  return costs
}
