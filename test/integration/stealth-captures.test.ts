import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { stealthChromiumPath } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createIdentityProbe } from '#test/helpers/identity-probe.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startMicrosocks, withoutRealProxies } from '#test/helpers/real-proxies.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startSystem } from '#test/helpers/system.ts'

const probe = createIdentityProbe()
const pages = await startPages(probe.routes)
const skip = withoutRealProxies()
const socks = skip === false ? await startMicrosocks() : undefined
const allowed = [
  ...(socks ? [`127.0.0.1:${socks.port}`] : []),
  `127.0.0.1:${pages.host.split(':')[1]}`,
  `localhost:${pages.host.split(':')[1]}`,
]
const flags = allowed.flatMap((target) => ['--allow-target', target])
const system = await startSystem(flags, { env: { SHUTTERFLEET_POOL_HOLD_SECONDS: '2' } })
t.teardown(async () => {
  await system.stop()
  await socks?.[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

const fullBrowsers = () =>
  processTree(system.pid).filter(({ command }) => command.startsWith(`${stealthChromiumPath} `))

const captured = async (parameters: Record<string, unknown>) => {
  const body = { url: `${pages.url}/probe`, wait_for_selector: '#settled', timeout: 20, ...parameters }
  const answer = await system.post('/v1/screenshots/capture', body)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, text: answer.status === 200 ? '' : bytes.toString(), found: probe.take().probes.page }
}

t.test('stealth captures: have their own workers, which are scaled to zero when idle', async (t) => {
  t.strictSame(fullBrowsers(), [])
  const { status, text, found } = await captured({ stealth: true })
  t.equal(status, 200, text)
  t.match(found, { webdriver: false, chrome: 'object' })
  t.equal(found.plugins?.length, 5)
  t.match(
    await system.metrics('controller'),
    /shutterfleet_pool_workers\{queue="stealth",browserpool="stealth",state="ready"/,
  )
  t.equal((await captured({})).found.plugins?.length, 0, 'other captures use the headless shell')
  await eventually(() => fullBrowsers().length === 0, { withinMs: 60_000, what: 'no full Chromium is left' })
})

t.test('stealth captures: with a proxy are served by a single-use worker with full Chromium', { skip }, async (t) => {
  const { status, text, found } = await captured({ stealth: true, proxy: `socks5://127.0.0.1:${socks?.port}` })
  t.equal(status, 200, text)
  t.match(found, { webdriver: false, chrome: 'object' })
  t.match(await socks?.log(), /connected to 127\.0\.0\.1/)
  const plain = await captured({ proxy: `socks5://127.0.0.1:${socks?.port}` })
  t.equal(plain.found.plugins?.length, 0, 'captures without stealth use the headless shell')
})

t.test('stealth captures: without full Chromium the gateway rejects stealth and names the settings', async (t) => {
  const gateway = await startGateway(t, { SEALING_KEY_STEALTH: '' })
  await replacePlans(gateway.database, defaultPlans)
  const { id } = await createAccount(gateway.database, { name: 'Test', email: 't@example.com', plan: 'business' })
  const { key } = await createKey(gateway.database, { accountId: id, name: '', domains: [], pepper: testPepper })
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${gateway.baseUrl}/v1/screenshots${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return { status: answer.status, ...((await answer.json()) as { error?: { details: Record<string, string[]> } }) }
  }
  const url = 'https://example.com/'
  const refused = {
    status: 422,
    error: {
      details: { stealth: [/no full Chromium.*SHUTTERFLEET_STEALTH_CHROMIUM.*SHUTTERFLEET_SEALING_KEY_STEALTH/] },
    },
  }
  t.match(await post('', { url, stealth: true }), refused)
  t.match(await post('/capture', { url, stealth: true }), refused)
  t.match(await post('/batch', { urls: [url], stealth: true }), refused)
  t.match(await post('', { url, stealth: true, proxy: 'http://proxy.example.com:3128' }), refused)
  t.equal((await post('', { url, stealth: false })).status, 202)
})
