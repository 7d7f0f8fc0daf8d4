import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { failingPages, friendlyPages, type Route } from '#test/fixtures/pages/pages.ts'
import { noLists, type TargetTexts } from '#shared/policy/target-lists.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import type { CaseRecords } from '#test/fixtures/ssrf-cases.ts'
import { createResolver, type Filter, targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { compileLists } from '#worker/block-lists/compile-lists.ts'
import { readyLists } from '#worker/block-lists/provide-lists.ts'
import { readLists } from '#worker/block-lists/read-lists.ts'
import { testPrograms } from '#test/helpers/test-program-path.ts'
import type { Browsers, HostSettings, Outcome } from '#worker/protocol/protocol.ts'
import { writeFontAliases } from '#worker/host/font-aliases.ts'
import { startHost } from '#worker/host/start-host.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { reserveBrowserUsers } from '#worker/isolation/browser-users.ts'
import type { NetworkIsolation } from '#worker/isolation/isolated.ts'
import type { TrafficBounds } from '#worker/network/capture-traffic.ts'
import type { EgressEndpoint } from '#worker/network/request-tunnel.ts'

/** User IDs of this process' browsers if it runs as root. */
export const browserUsers = await reserveBrowserUsers('shutterfleet-browser', 1)

/** Serves the fixture pages, and `more`, on a free port of loopback. */
export const startPages = async (
  more: Readonly<Record<string, Route>> = {},
): Promise<AsyncDisposable & { url: string; hits: string[]; host: string }> => {
  const hits: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    hits.push(pathname)
    const route = more[pathname] ?? friendlyPages[pathname] ?? failingPages[pathname]?.route ?? more['*']
    if (route) route(request, response)
    else response.writeHead(404).end('not a fixture')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${host}`,
    host,
    hits,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** An egress filter: its endpoint and a folder for browser hosts. */
export type TestEgress = EgressEndpoint & { readonly folder: string }

/** Starts an egress filter that allows the listed targets and resolves the names of `records`. */
export const startTestEgress = async (
  allow: string,
  records: CaseRecords = {},
  lists = noLists,
): Promise<AsyncDisposable & TestEgress & Pick<Filter, 'events'>> => {
  const folder = await mkdtemp(join(tmpdir(), 'host-'))
  const filter = await startFilter({
    rules: targetRules(allow, lists),
    resolver: createResolver(records),
    connectionBytesMax: 1e9,
    connectionsMax: 1000,
  })
  if (browserUsers) await chmod(folder, 0o711)
  return {
    folder,
    egress: { host: '127.0.0.1', port: filter.port },
    egressToken: '',
    events: filter.events,
    [Symbol.asyncDispose]: async () => {
      await filter[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The bundled filter lists, compiled once for all hosts of this process. */
const ownLists = await compileLists(await readLists(''), readyLists)

let names = 0

/** The browsers of a standard worker. */
const browsers: Browsers = { prewarmed: 'shell', binaries: { shell: chromiumPath } }

/** Starts a browser host as a worker would. */
export const startTestHost = async (
  egress: TestEgress,
  { bytesMax = 536_870_912, connectionsMax = 512, ...overrides }: Partial<HostSettings & TrafficBounds> = {},
  more: {
    readonly network?: NetworkIsolation
    readonly trust?: string | undefined
    readonly memoryMax?: number
    readonly startMs?: number
  } = {},
): Promise<Host> => {
  const user = browserUsers?.all[0]
  names += 1
  const { network = 'namespace', trust, memoryMax = 2 ** 31, startMs = 240_000 } = more
  const start = {
    settings: {
      browsers,
      sandbox: true,
      ...(user && { user }),
      blockLists: ownLists,
      fonts: await writeFontAliases(egress.folder),
      ...(trust && { trust }),
      recycleCaptures: 50,
      recycleMs: 600_000,
      recycleBytes: memoryMax / 2,
      checked: [],
      heightMax: 20_000,
      pixelsMax: 80_000_000,
      ...overrides,
    },
    upstream: { ...egress, bytesMax, connectionsMax },
    isolation: {
      network,
      isRoot: user !== undefined,
      browsers: Object.values((overrides.browsers ?? browsers).binaries),
    },
    memoryMax,
    startMs,
    folder: join(egress.folder, `${process.pid}-${names}`),
    programs: testPrograms,
  }
  return startHost(start, new AbortController().signal)
}

/** How often a capture is repeated that this process, on a busy machine, was too late for. */
const repeatsMax = 3

/**
 * Takes one capture on a host, with the budget that a worker would set, and the lists of targets of its account. Repeats it, as a worker
 * would, if it failed while this process did not run.
 */
export const captureWith = async (
  host: Host,
  parameters: CaptureParameters,
  targets?: TargetTexts,
  repeats = 0,
): Promise<Outcome> => {
  const options = withDefaults(parameters)
  const endsAt = performance.now() + attemptBudgetMs(options)
  const outcome = await host.capture({ id: crypto.randomUUID(), options, online: true }, endsAt, targets)
  const isExcused = outcome.outcome === 'interrupted' && outcome.by === 'worker' && repeats < repeatsMax
  return isExcused ? captureWith(host, parameters, targets, repeats + 1) : outcome
}
