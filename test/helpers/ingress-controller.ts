import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { TestCluster, WithTeardown } from './cluster.ts'
import { endWithParent } from './cluster-processes.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

const program = resolve(import.meta.dirname, '../../.tools/traefik/traefik')
const answerMs = 150_000

/**
 * Starts Traefik from scripts/install-traefik.sh, until the test's end. It serves Ingresses of the class `traefik`, and
 * those of the class `nginx` with the annotations and defaults of ingress-nginx. Returns the TLS port on 127.0.0.1.
 */
export const startIngressController = async (
  t: WithTeardown,
  { kubeconfig, place }: Pick<TestCluster, 'kubeconfig' | 'place'>,
): Promise<number> => {
  const [web, secure, health] = [await freePort(), await freePort(), await freePort()]
  const flags = [
    `--entryPoints.web.address=127.0.0.1:${web}`,
    `--entryPoints.websecure.address=127.0.0.1:${secure}`,
    '--entryPoints.websecure.http.tls=true',
    `--entryPoints.traefik.address=127.0.0.1:${health}`,
    '--ping=true',
    '--providers.kubernetesIngress.ingressClass=traefik',
    '--providers.kubernetesIngressNGINX.httpEntryPoint=web',
    '--providers.kubernetesIngressNGINX.httpsEntryPoint=websecure',
    '--providers.kubernetesIngressNGINX.proxyRequestBuffering=true',
    '--providers.kubernetesIngressNGINX.proxyBuffering=true',
    '--global.checkNewVersion=false',
    '--global.sendAnonymousUsage=false',
  ]
  const log = await open(join(place.folder, 'traefik.log'), 'a')
  const child = spawn('setpriv', [...endWithParent, program, ...flags], {
    stdio: ['ignore', log.fd, log.fd],
    env: { KUBECONFIG: kubeconfig },
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
    await log.close()
  })
  const isReady = async () => (await fetch(`http://127.0.0.1:${health}/ping`)).ok
  await eventually(isReady, { withinMs: 60_000, what: 'Traefik is ready' })
  return secure
}

type Sent = Pick<RequestOptions, 'method' | 'localAddress'> & {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request over TLS to a host of an Ingress, on a new connection; resolves with the head of the response. */
export const requestIngress = async (
  { host, port, ca }: { readonly host: string; readonly port: number; readonly ca: Buffer },
  path: string,
  { body, headers, ...more }: Sent = {},
): Promise<Response> => {
  const to = {
    host: '127.0.0.1',
    port,
    ca,
    path,
    servername: host,
    agent: false,
    signal: AbortSignal.timeout(answerMs),
  }
  const request = httpsRequest({ ...to, ...more, headers: { ...headers, host } }).end(body)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  const answered = Object.entries(message.headers).map(([name, value]) => [name, String(value)])
  return new Response(Readable.toWeb(message) as ReadableStream, {
    status: message.statusCode ?? 0,
    headers: Object.fromEntries(answered) as Record<string, string>,
  })
}
