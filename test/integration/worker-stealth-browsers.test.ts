import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { chromiumPath, stealthChromiumPath } from '#test/helpers/bare-browser.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { createIdentityProbe } from '#test/helpers/identity-probe.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import type { Browsers } from '#worker/protocol/protocol.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { createCanary, warmUp } from '#worker/host/warm-up.ts'

/** A page for which full Chromium would request form predictions and translation from its vendor. */
const inviting = `<!doctype html><html lang="xx"><title>Anmeldung</title><form action="/signed-in" method="post">
<input name="email" type="email" autocomplete="email"><input name="cc-number" autocomplete="cc-number">
<input name="password" type="password"></form><p>Hallo Welt, das ist ein langer deutscher Text.`

const probe = createIdentityProbe()
const pages = await startPages({
  ...probe.routes,
  '/inviting': (_request, response) => response.end(inviting),
  '/favicon.ico': (_request, response) => response.writeHead(204).end(),
})
const resolved = new Set<string>()
const records = new Proxy<Record<string, { A: string[] }>>(
  { localhost: { A: ['127.0.0.1'] } },
  {
    get: (all, name) => {
      resolved.add(String(name).replace(/\.$/, ''))
      return all[String(name)]
    },
  },
)
const egress = await startTestEgress(`${pages.host} localhost:${pages.host.split(':')[1]}`, records)
const full: Browsers = { prewarmed: 'full', binaries: { full: stealthChromiumPath } }
t.teardown(async () => {
  for (const part of [egress, pages]) await part[Symbol.asyncDispose]()
})

const shoot = async (parameters: CaptureParameters, environment: Host) => {
  const outcome = await captureWith(environment, { timeout: 10, stealth: true, ...parameters })
  if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.shot
}

t.test('stealth: a capture sends no requests other than those of its page', async (t) => {
  // In its own network namespace the browser considers itself offline and sends fewer requests.
  for (const network of ['namespace', 'flags-only'] as const) {
    pages.hits.length = 0
    resolved.clear()
    // The browser's own requests are sent within 6 s of its start and within 1 s of a load.
    await using fresh = await startTestHost(egress, { browsers: full }, { network })
    await shoot({ url: `${pages.url.replace('127.0.0.1', 'localhost')}/inviting`, delay: 7 }, fresh)
    t.strictSame([...resolved], ['localhost'], network)
    t.strictSame(new Set(pages.hits), new Set(['/inviting', '/favicon.ico']), network)
  }
})

t.test('stealth: with flags-only, too, no page of full Chromium bypasses its proxy', async (t) => {
  const { server, connections } = createCanary(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  await using byFlags = await startTestHost(egress, { browsers: full }, { network: 'flags-only' })
  await warmUp(
    byFlags,
    { port: (server.address() as AddressInfo).port, connections },
    { browser: 'full', startMs: 30_000 },
  )
  t.equal(connections(), 0)
})

t.test(
  'worker stealth browsers: a worker with both browsers starts the one of the capture, and only one at a time',
  async (t) => {
    const both = { shell: chromiumPath, full: stealthChromiumPath }
    await using proxied = await startTestHost(egress, { browsers: { prewarmed: 'shell', binaries: both } })
    const plugins = async (stealth: boolean) => {
      await shoot({ url: `${pages.url}/probe`, wait_for_selector: '#settled', stealth }, proxied)
      return probe.take().probes.page.plugins?.length
    }
    t.equal(await plugins(true), 5)
    const shells = processTree(process.pid).filter(({ command }) => command.startsWith(chromiumPath))
    t.strictSame(shells, [], 'the spare headless shell has ended')
    t.equal(await plugins(false), 0)
  },
)

t.test('worker stealth browsers: a worker without full Chromium fails stealth captures', async (t) => {
  await using shell = await startTestHost(egress)
  t.match(await captureWith(shell, { html: 'x', stealth: true }), {
    outcome: 'failed',
    code: 'JOB_FAILED',
    message: /does not have the browser/,
  })
  t.match(await captureWith(shell, { html: 'x' }), { outcome: 'completed' }, 'other captures are served')
})
