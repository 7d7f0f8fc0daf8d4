import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { writePlainKubeconfig } from './stub-api-server.ts'

/** A fault of a request, instead of or before forwarding. `unanswered`: it is forwarded, and its response is dropped. */
export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'slow'; readonly waitMs: number }

/** A fault-injecting proxy in front of kube-apiserver. Stopped at the test's end. */
export type FaultyProxy = {
  /** Path of a kubeconfig with the proxy as the server. */
  readonly kubeconfig: string
  /** Faults of the next requests, one each, in order; a write is any request that changes objects. */
  readonly faults: { readonly list: Fault[]; readonly watch: Fault[]; readonly write: Fault[] }
  /** Delays every later request before it is forwarded; 0 by default. */
  readonly setDelay: (waitMs: number) => void
  /** Resets all connections. */
  readonly reset: () => void
  /** Ends all watches as kube-apiserver does if their version is too old. */
  readonly expire: () => void
  /** Number of open watches. */
  readonly watches: () => number
  /** Number of writes without a response of the API server, except those that a frozen client has sent in part. */
  readonly writes: () => number
}

type Kubeconfig = {
  clusters: { cluster: { server: string; 'certificate-authority': string } }[]
  users: { user: { token: string } }[]
}
type Upstream = { readonly server: string; readonly token: string; readonly ca: Buffer }
type WithTeardown = { teardown: (clean: () => void) => void; testdir: () => string }

const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }

/** Starts a proxy on a free port in front of the API server of a kubeconfig (in JSON, with a token). */
export const startFaultyProxy = async (t: WithTeardown, kubeconfig: string): Promise<FaultyProxy> => {
  const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig
  const { server, 'certificate-authority': authority } = config.clusters[0]!.cluster
  const upstream = { server, token: config.users[0]!.user.token, ca: await readFile(authority) }
  const faults: FaultyProxy['faults'] = { list: [], watch: [], write: [] }
  const watches = new Set<ServerResponse>()
  const writes = new Set<IncomingMessage>()
  let delayMs = 0

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const kind = kindOf(request)
    const fault = kind && faults[kind].shift()
    if (delayMs > 0) await delay(delayMs)
    if (fault && (await breaks(fault, response))) return
    // Its body is gone with the client's connection: the API server would wait for it.
    if (response.destroyed) return
    const answer = await passOn(upstream, request, response)
    if (fault?.kind === 'unanswered') {
      response.destroy()
      return
    }
    response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' })
    if (kind !== 'watch') {
      answer.pipe(response)
      return
    }
    response.flushHeaders()
    watches.add(response)
    response.on('close', () => watches.delete(response))
    for await (const line of createInterface(answer)) response.write(`${line}\n`)
    response.end()
  }
  const proxy = createServer((request, response) => {
    if (kindOf(request) === 'write') writes.add(request)
    // An upstream error breaks the client's connection too.
    serve(request, response)
      .catch(() => response.destroy())
      .finally(() => writes.delete(request))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return {
    kubeconfig: await writePlainKubeconfig(t.testdir(), (proxy.address() as AddressInfo).port),
    faults,
    setDelay: (waitMs) => {
      delayMs = waitMs
    },
    reset: () => proxy.closeAllConnections(),
    expire: () => {
      for (const response of watches) response.end(`${JSON.stringify(expired)}\n`)
    },
    watches: () => watches.size,
    writes: () => [...writes].filter(({ complete }) => complete).length,
  }
}

const kindOf = ({ method, url = '' }: IncomingMessage): keyof FaultyProxy['faults'] | undefined => {
  if (method !== 'GET') return 'write'
  if (url.includes('watch=true')) return 'watch'
  return url.includes('limit=') ? 'list' : undefined
}

/** Injects a fault; returns false if the request is to be forwarded afterwards. */
const breaks = async (fault: Fault, response: ServerResponse): Promise<boolean> => {
  if (fault.kind === 'unanswered') return false
  if (fault.kind === 'slow') {
    await delay(fault.waitMs)
    return false
  }
  if (fault.kind === 'reset') response.destroy()
  else {
    const after = fault.retryAfterSeconds
    response
      .writeHead(fault.status, after === undefined ? {} : { 'retry-after': String(after) })
      .end('broken by a test')
  }
  return true
}

const passOn = async ({ server, token, ca }: Upstream, request: IncomingMessage, response: ServerResponse) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}`, host: new URL(server).host }
  const onward = httpsRequest(server + request.url, { method: request.method ?? 'GET', headers, ca, agent: false })
  response.on('close', () => onward.destroy())
  onward.on('error', () => response.destroy())
  request.pipe(onward)
  const [answer] = (await once(onward, 'response')) as [IncomingMessage]
  answer.on('error', () => response.destroy())
  return answer
}
