import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { type ResultMessage, startedCodec, type StartedMessage } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { startedSubject } from '#shared/queue/subjects.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { awaitResult, waitForResult, sendCapture, waitForStarted } from '#test/helpers/browser-worker.ts'
import { type EgressProcess, startEgressProcess } from '#test/helpers/egress-process.ts'
import { captureHeader } from '#shared/net/refusal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { startLoneWorker } from '#test/helpers/lone-worker.ts'
import { processTree } from '#test/helpers/process-tree.ts'

/** A worker with all its dependencies, which can be made to fail, and pages that are held until the test releases them. */
export type FaultedWorker = {
  readonly pagesUrl: string
  /** Requested paths. */
  readonly hits: readonly string[]
  /** Number of responses held at this moment. */
  readonly held: () => number
  readonly releasePages: () => void
  readonly egressPort: number
  readonly startEgress: (more?: Readonly<Record<string, string>>) => Promise<void>
  readonly endEgress: (signal?: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** Breaks all connections between the worker and egress; new ones are possible. */
  readonly cutConnections: () => void
  /** Resets the worker's connections to egress that are tunnels of pages. */
  readonly resetTunnels: () => void
  readonly log: () => string
  /** Kills the browser (`killHost`: its host); returns the number of killed processes. */
  readonly killBrowser: () => number
  readonly killHost: () => number
  /** Publishes a capture and returns its id. */
  readonly send: (parameters: CaptureParameters) => Promise<string>
  /** Publishes a capture for which another worker has sent this start report. */
  readonly sendStarted: (parameters: CaptureParameters, by: Omit<StartedMessage, 'id' | 'pod'>) => Promise<string>
  readonly result: (id: string) => Promise<ResultMessage>
  readonly hasResult: (id: string) => Promise<boolean>
  readonly lastStarted: (id: string) => Promise<StartedMessage | undefined>
  readonly isHandedBack: (id: string) => Promise<boolean>
  readonly isAlive: () => Promise<boolean>
  readonly ready: () => Promise<void>
  /** Waits until the worker is not ready because of egress. */
  readonly awayFromEgress: () => Promise<void>
  /** Waits for the queue to have this depth. A message delivered to an open pull is returned and counts as in flight. */
  readonly depthIs: (depth: number) => Promise<void>
}

const html = { 'content-type': 'text/html' }

const startHeldPages = async () => {
  const held = new Set<ServerResponse>()
  const hold = (_request: IncomingMessage, response: ServerResponse) => {
    held.add(response)
    response.on('close', () => held.delete(response))
  }
  const pages = await startPages({
    '/held': (request, response) => hold(request, response.setHeader('content-type', 'text/html')),
    '/half': (request, response) => {
      response.writeHead(200, { ...html, 'content-length': '1000' }).write('<h1>half of it</h1>')
      hold(request, response)
    },
    '/image-held': (_request, response) => response.writeHead(200, html).end('<h1>page</h1><img src="/held">'),
    '/says-loaded': (_request, response) =>
      response
        .writeHead(200, html)
        .end("<h1>page</h1><script>onload = () => setTimeout(fetch, 500, '/loaded')</script>"),
    '/connects': (_request, response) =>
      response
        .writeHead(200, html)
        .end(
          "<h1>page</h1><script>for (let at = 0; at < 300; at += 1) { fetch('/held').catch(() => {}); new WebSocket('ws://' + location.host + '/held') }</script>",
        ),
    '/loaded': (_request, response) => response.end(),
  })
  return { pages, held }
}

const startKillableEgress = async (allow: string) => {
  const port = await freePort()
  let service: EgressProcess | undefined
  const start = async (more: Readonly<Record<string, string>> = {}) => {
    service = startEgressProcess({ SHUTTERFLEET_EGRESS_PORT: String(port), SHUTTERFLEET_ALLOW_TARGETS: allow, ...more })
    await service.announced
  }
  await start()
  const end = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL') => {
    service?.child.kill(signal)
    await service?.ended
  }
  return { port, start, end }
}

/** Forwards connections to a local port, until all are cut. */
const startCuttableWay = async (port: number) => {
  const sockets = new Set<Socket>()
  const tunnels = new Set<Socket>()
  const server = createServer((near) => {
    near.once('data', (head: Buffer) => {
      if (head.toString().includes(captureHeader)) tunnels.add(near)
    })
    const far = connect({ port, host: '127.0.0.1' })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        tunnels.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const end = () => {
    server.close()
    cut()
  }
  const resetTunnels = () => {
    for (const socket of tunnels) socket.resetAndDestroy()
  }
  return { port: (server.address() as AddressInfo).port, cut, resetTunnels, end }
}

/** Starts a worker, with egress as a separate process that can be killed. */
export const startFaultedWorker = async (t: Test): Promise<FaultedWorker> => {
  const { pages, held } = await startHeldPages()
  const egress = await startKillableEgress(pages.host)
  const tunnel = await startCuttableWay(egress.port)
  t.teardown(async () => {
    await egress.end()
    tunnel.end()
    await pages[Symbol.asyncDispose]()
  })
  const { worker, queue, to } = await startLoneWorker(t, tunnel.port)
  const send = (parameters: CaptureParameters, overrides?: { readonly id: string }) =>
    sendCapture(to, { timeout: 30, ...parameters }, overrides)
  const readiness = async () => {
    const response = await fetch(`${worker.probeUrl}/readyz`)
    return { isReady: response.status === 200, text: await response.text() }
  }
  const killAll = (matches: (command: string) => boolean) => {
    const pids = processTree(worker.pid).flatMap(({ pid, command }) => (matches(command) ? [pid] : []))
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    return pids.length
  }
  return {
    pagesUrl: pages.url,
    hits: pages.hits,
    held: () => held.size,
    releasePages: () => void [...held].map((response) => response.end('<h1>at last</h1>')),
    egressPort: egress.port,
    startEgress: egress.start,
    endEgress: egress.end,
    cutConnections: tunnel.cut,
    resetTunnels: tunnel.resetTunnels,
    log: worker.log,
    killBrowser: () => killAll((command) => command.startsWith(chromiumPath) && !command.includes('--type=')),
    killHost: () => killAll((command) => command.startsWith(process.execPath) && command.includes('browser-host/main')),
    send: async (parameters) => (await send(parameters)).id,
    sendStarted: async (parameters, by) => {
      const id = crypto.randomUUID()
      const started = startedCodec.encode({ id, pod: 'other', ...by })
      await publishStored(queue, startedSubject({ pool: 'standard', id }), started)
      return (await send(parameters, { id })).id
    },
    result: (id) => awaitResult(queue, id),
    hasResult: async (id) => (await waitForResult(queue, id)) !== undefined,
    lastStarted: (id) => waitForStarted(queue, id),
    isHandedBack: async (id) => (await waitForStarted(queue, id))?.kind === 'handed-back',
    isAlive: async () => (await fetch(`${worker.probeUrl}/livez`)).status === 200,
    ready: () => eventually(async () => (await readiness()).isReady, { what: 'ready' }),
    awayFromEgress: () =>
      eventually(async () => {
        const { isReady, text } = await readiness()
        return !isReady && text.includes('"egress":')
      }),
    depthIs: (depth) =>
      eventually(async () => {
        const { waiting, inFlight } = await poolDepth(queue, 'standard')
        return waiting + inFlight === depth
      }),
  }
}
