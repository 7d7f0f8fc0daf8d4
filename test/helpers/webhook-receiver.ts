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

/** What a receiver was sent. */
export type Received = {
  readonly path: string
  readonly host: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** How it answers: a status, a redirect, not at all, with a beginning and no end, or by closing the connection. */
export type Behaviour = number | { readonly redirect: string } | 'hang' | 'begin' | 'close'

/** A certificate that signs itself, in files of a folder of its own. */
export type Certificate = AsyncDisposable & { readonly certPath: string; readonly keyPath: string }

/** Makes a certificate for the given names and 127.0.0.1, with openssl. */
export const makeCertificate = async (names: readonly string[]): Promise<Certificate> => {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'))
  const certPath = join(folder, 'cert.pem')
  const keyPath = join(folder, 'key.pem')
  const alternative = [...names.map((name) => `DNS:${name}`), 'IP:127.0.0.1'].join(',')
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=receiver', '-addext', `subjectAltName=${alternative}`, '-keyout', keyPath, '-out', certPath],
  ])
  return { certPath, keyPath, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

/**
 * A receiver of webhooks over TLS. What it is sent is held against the document of the interface: disposing it throws what
 * did not fit.
 */
export type Receiver = AsyncDisposable & {
  readonly port: number
  readonly received: Received[]
  /** Connections that were made to it. */
  readonly connections: () => number
  /** Most requests that were open at one time, by the path's first part. */
  readonly mostAtOnce: (first: string) => number
}

const firstOf = (path: string) => path.split('/')[1] ?? ''

/** Starts a receiver on a free port of loopback. `behave` says how it answers a path the nth time (from 1). */
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
    if (faults.length > 0) throw new Error(`what was sent is not as the document says:\n${faults.join('\n')}`)
  }
  return {
    port: running.port,
    [Symbol.asyncDispose]: dispose,
    received,
    connections: () => connections,
    mostAtOnce: (first) => most.get(first) ?? 0,
  }
}
