import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { programPath } from '#shared/process/program-path.ts'
import type { Check } from './check.ts'

const startMs = 20_000
const answerMs = 10_000

/** Starts a separate filter that allows public targets only. Throws if it is not up within 20 s. */
const startFilter = async (path: string): Promise<AsyncDisposable & { readonly url: URL }> => {
  const child = fork(programPath('egress/main'), {
    execArgv: [],
    env: { PATH: path, SHUTTERFLEET_EGRESS_PORT: '0', SHUTTERFLEET_PROBE_PORT: '0' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit')
  const dispose = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const announced = once(child, 'message', { signal: AbortSignal.timeout(startMs) }) as Promise<[{ egress: string }]>
  const announcement = await Promise.race([announced, ended.then(() => undefined)]).catch(() => undefined)
  if (announcement) return { url: new URL(announcement[0].egress), [Symbol.asyncDispose]: dispose }
  await dispose()
  throw new Error('the filter did not start')
}

/** Sends a CONNECT request to the filter and returns the status. Throws after 10 s without a response. */
const requestTunnel = async ({ hostname, port }: URL, target: string): Promise<number> => {
  const connecting = request({ host: hostname, port, method: 'CONNECT', path: target, agent: false })
  connecting.setTimeout(answerMs, () => connecting.destroy(new Error('the filter does not respond')))
  connecting.end()
  const [answer, socket] = (await once(connecting, 'connect')) as [IncomingMessage, { destroy: () => void }]
  socket.destroy()
  return answer.statusCode ?? 0
}

const probeEgress = async (path: string) => {
  let connections = 0
  const canary = createServer((client) => {
    connections += 1
    client.destroy()
  })
  canary.listen(0, '127.0.0.1')
  await once(canary, 'listening')
  try {
    await using filter = await startFilter(path)
    const { port } = canary.address() as AddressInfo
    const statuses: number[] = []
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
      statuses.push(await requestTunnel(filter.url, `${host}:${port}`))
    }
    if (connections > 0 || statuses.includes(200))
      throw new Error('the filter let a connection through to this machine')
    return 'refuses this machine in every spelling; the canary received no connection'
  } finally {
    canary.close()
  }
}

/** Checks that pages cannot reach this machine: a filter as shipped must not connect to a canary server on loopback. `path`: the PATH of the filter. */
export const egressCheck = (path: string): Check => ({
  name: 'egress',
  advice: 'do not serve captures: reinstall this version, and report the failure if it remains',
  run: () => probeEgress(path),
})
