import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createContract } from './contract.ts'
import { listening } from './egress-filter.ts'

const run = promisify(execFile)

/** A received request. */
export type Received = {
  readonly path: string
  readonly host: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Response of a receiver: a status, a redirect, none, an unfinished response, or a closed connection. */
export type Behaviour = number | { readonly redirect: string } | 'hang' | 'begin' | 'close'

/** A self-signed certificate, in files of a temporary folder. */
export type Certificate = AsyncDisposable & { readonly certPath: string; readonly keyPath: string }

/** Creates a certificate for the given names, 127.0.0.1 and ::1, with openssl. */
export const makeCertificate = async (names: readonly string[]): Promise<Certificate> => {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'))
  const certPath = join(folder, 'cert.pem')
  const keyPath = join(folder, 'key.pem')
  const alternative = [...names.map((name) => `DNS:${name}`), 'IP:127.0.0.1', 'IP:::1'].join(',')
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=receiver', '-addext', `subjectAltName=${alternative}`, '-keyout', keyPath, '-out', certPath],
  ])
  return { certPath, keyPath, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

/**
 * A receiver of webhooks over TLS. Requests are validated against the OpenAPI document: dispose throws all
 * violations.
 */
export type Receiver = AsyncDisposable & {
  readonly port: number
  readonly received: Received[]
  /** Number of accepted connections. */
  readonly connections: () => number
  /** Maximum number of concurrent requests, by the first segment of the path. */
  readonly mostAtOnce: (first: string) => number
}

const firstOf = (path: string) => path.split('/')[1] ?? ''

/** Starts a receiver on a free port of loopback. `behave` returns the response to the nth request of a path (from 1). */
export const startReceiver = async (
  { certPath, keyPath }: Certificate,
  behave: (path: string, nth: number) => Behaviour | Promise<Behaviour>,
): Promise<Receiver> => {
  const received: Received[] = []
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  let connections = 0
  const times = new Map<string, number>()
  const tls = { cert: await readFile(certPath), key: await readFile(keyPath) }
  const server = createServer(tls, async (request, response) => {
    const path = request.url ?? ''
    const first = firstOf(path)
    open.set(first, (open.get(first) ?? 0) + 1)
    most.set(first, Math.max(most.get(first) ?? 0, open.get(first) ?? 0))
    response.once('close', () => open.set(first, (open.get(first) ?? 0) - 1))
    const body = await text(request)
    received.push({ path, host: request.headers.host, headers: request.headers, body })
    const nth = (times.get(path) ?? 0) + 1
    times.set(path, nth)
    const behaviour = await behave(path, nth)
    if (behaviour === 'hang') return
    if (behaviour === 'close') response.destroy()
    else if (behaviour === 'begin') response.writeHead(200, { 'content-length': 100 }).write('thank')
    else if (typeof behaviour === 'number') response.writeHead(behaviour).end('thank you')
    else response.writeHead(302, { location: behaviour.redirect }).end()
  })
  server.on('connection', () => {
    connections += 1
  })
  const running = await listening(server)
  const contract = createContract()
  const dispose = async () => {
    await running[Symbol.asyncDispose]()
    const faults = received.flatMap(contract.checkEvent)
    if (faults.length > 0) throw new Error(`webhook violates the OpenAPI document:\n${faults.join('\n')}`)
  }
  return {
    port: running.port,
    [Symbol.asyncDispose]: dispose,
    received,
    connections: () => connections,
    mostAtOnce: (first) => most.get(first) ?? 0,
  }
}
