import t from 'tap'
import { attemptBudgetMs, endsBeforeMs, ledgerMarginMs, openMs, requestedWaitMs } from '#shared/capture/budget.ts'

t.test('budget: each step of an attempt leaves time for the next, and the last for the ledger', async (t) => {
  const { page, browser, store, report } = endsBeforeMs
  t.ok(page > browser && browser > store && store > report)
  t.equal(report, ledgerMarginMs)
})

t.test('budget: a page that opens late still gets the full timeout and delay', async (t) => {
  const options = { timeout: 5, delay: 0 }
  t.equal(attemptBudgetMs(options) - endsBeforeMs.page - openMs, 5000)
})

t.test('budget: requested waits are the delay and those of the actions; delay_ms takes precedence', async (t) => {
  const actions = [
    { type: 'wait', milliseconds: 300 },
    { type: 'click', selector: 'a' },
    { type: 'wait', milliseconds: 40 },
  ] as const
  t.equal(requestedWaitMs({ delay: 2 }), 2000)
  t.equal(requestedWaitMs({ delay: 2, delay_ms: 5, actions: [...actions] }), 345)
  const waiting = { timeout: 5, delay: 0, actions: [...actions] }
  t.equal(attemptBudgetMs(waiting) - attemptBudgetMs({ timeout: 5, delay: 0 }), 340)
})
