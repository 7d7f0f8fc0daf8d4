import t from 'tap'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import type { Browser } from '#worker/browser-host/browser/launch.ts'
import { createPageSupply, defaultEmulation } from '#worker/browser-host/page-supply.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

/** Browsers whose launches, pages and ends the test controls. */
const createTestSupply = () => {
  const started: { kind: BrowserKind; isKilled: boolean; end: () => void }[] = []
  let pages = 0
  const session = createSessionDouble({ send: async () => ({}) })
  const launch = async (kind: BrowserKind): Promise<Browser> => {
    const over = new AbortController()
    const browser = { kind, isKilled: false, end: () => over.abort() }
    started.push(browser)
    return {
      version: '156.0.0.0',
      session,
      ended: over.signal,
      openBlank: async () => {
        pages += 1
        return { id: `page-${pages}`, session, contextId: `context-${pages}` }
      },
      attach: async () => session,
      sessionOf: () => session,
      kill: () => {
        browser.isKilled = true
      },
      processorTicks: () => 0,
    }
  }
  const supply = createPageSupply(launch, {
    recycleCaptures: 2,
    recycleMs: 60_000,
    prewarmed: 'shell',
    proxy: 'socks5://x:1',
  })
  const take = (kind: BrowserKind = 'shell') => supply.acquire(defaultEmulation(kind))
  const capture = async (kind: BrowserKind = 'shell', isTainted = false) => {
    const page = await take(kind)
    supply.release(page, isTainted)
    return page.browser
  }
  return { started, supply, take, capture }
}

t.test('page supply: starts the next browser while the current one serves its last capture', async (t) => {
  const { started, supply, take, capture } = createTestSupply()
  await capture()
  const last = await take()
  t.equal(started.length, 2)
  t.notOk(started[0]?.isKilled)
  supply.release(last, false)
  const next = await take()
  t.ok(started[0]?.isKilled)
  t.equal(started.length, 2, 'only the successor is started')
  t.not(next.browser, last.browser)
})

t.test('page supply: does not reuse a browser that is spoilt or has exited', async (t) => {
  const { started, take, capture } = createTestSupply()
  await capture('shell', true)
  await capture()
  t.match(started, [{ isKilled: true }, { isKilled: false }])
  started[1]?.end()
  await take()
  t.equal(started.length, 3)
})

t.test(
  'page supply: starts another kind of browser if a capture needs it, and kills the unused successor',
  async (t) => {
    const { started, take, capture } = createTestSupply()
    await capture()
    await capture()
    const full = await take('full')
    t.equal(full.emulation.browser, 'full')
    t.same(
      started.filter(({ isKilled }) => !isKilled).map(({ kind }) => kind),
      ['full'],
    )
  },
)

t.test('page supply: gives each capture its own page', async (t) => {
  const { supply, take } = createTestSupply()
  const first = await take()
  supply.release(first, false)
  const second = await take()
  t.not(second.contextId, first.contextId)
})
