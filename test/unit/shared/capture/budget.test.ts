import t from 'tap'
import { attemptBudgetMs, endsBeforeMs, ledgerMarginMs, openMs } from '#shared/capture/budget.ts'

t.test('budget: each step of an attempt leaves time for the next, and the last for the ledger', async (t) => {
  const { page, browser, store, report } = endsBeforeMs
  t.ok(page > browser && browser > store && store > report)
  t.equal(report, ledgerMarginMs)
})

t.test('budget: a page that opens late still gets the full timeout and delay', async (t) => {
  const options = { timeout: 5, delay: 0 }
  t.equal(attemptBudgetMs(options) - endsBeforeMs.page - openMs, 5000)
})
