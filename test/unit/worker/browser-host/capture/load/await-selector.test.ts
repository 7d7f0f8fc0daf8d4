import t from 'tap'
import type { Page } from 'playwright'
import { awaitSelector } from '#worker/browser-host/capture/load/await-selector.ts'

const pageThat = (error: Error | undefined) =>
  ({
    waitForSelector: async () => {
      if (error) throw error
    },
  }) as unknown as Page

const wait = (error?: Error) => awaitSelector({ page: pageThat(error) }, '#x', { waitMs: 10, timeoutSeconds: 5 })

// Contract: Missing selectors
t.test('a selector that does not come is a time-out that names it', async (t) => {
  const late = Object.assign(new Error('Timeout 10ms exceeded'), { name: 'TimeoutError' })
  await t.rejects(wait(late), { code: 'TIMEOUT', publicMessage: /#x.*5 s/ })
})

// Contract: Missing selectors
t.test('a selector that is none is named', async (t) => {
  const bad = new Error(`page.waitForSelector: Unexpected token "" while parsing css selector "#x"`)
  await t.rejects(wait(bad), { code: 'RENDER_ERROR', publicMessage: /#x/ })
})

t.test('what else goes wrong is left as it is', async (t) => {
  const gone = new Error('page.waitForSelector: Target page, context or browser has been closed')
  await t.rejects(wait(gone), gone)
  await wait()
})
