import t from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { violationsOn } from '#test/helpers/axe.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { buildConsole, consolePages } from '#test/helpers/console-pages.ts'
import { startSystem } from '#test/helpers/system.ts'

buildConsole()
const system = await startSystem(['--workers-max', '1'])
const browser = await startBareBrowser()
const { account_id: accountId, database_url: url } = await system.readLocal()
const database = openDatabase({ url, poolMax: 1 })
t.teardown(async () => {
  await database[Symbol.asyncDispose]()
  await browser.close()
  await system.stop()
})
const { openContext, signIn, complaints } = consolePages(browser, system)

/** Replaces the usage of the last 30 days, of each day the same, and the plan. */
const setUsage = async (plan: string, outcomes: Readonly<Record<string, number>>) => {
  await database.query('update account set plan = $2 where id = $1', [accountId, plan])
  await database.query('delete from usage_day')
  await database.query(
    `insert into usage_day (account_id, day, outcome, captures)
     select $1, (now() at time zone 'utc')::date - n, o.key, o.value::integer
       from generate_series(0, 29) as n cross join json_each_text($2::json) as o`,
    [accountId, JSON.stringify(outcomes)],
  )
}

for (const [width, colorScheme] of [
  [360, 'light'],
  [1280, 'dark'],
  [1920, 'light'],
] as const)
  t.test(`overview: usage by day is a chart and a table at ${width} px in ${colorScheme} colours`, async (t) => {
    await setUsage('pro', { completed: 400, cached: 30, TIMEOUT: 20, DNS_FAILED: 50 })
    const page = await openContext({ width, colorScheme })
    await signIn(page)
    const chart = page.getByRole('img', { name: /^Charged and failed captures by day/ })
    await chart.waitFor()
    t.equal(await chart.locator('rect.charged').count(), 30)
    t.match(await chart.locator('title').first().textContent(), /^\d+ \w+: 400 charged, 30 cached, 70 failed$/)
    t.equal(await chart.locator('path.share').count(), 1)
    await page.getByText(/^An even share of the quota: [\d.]+ a day$/).waitFor()
    for (const [label, figure] of [
      ['Success rate', '86 %'],
      ['Charged', '12,000'],
      ['Cached, free', '900'],
      ['Failed, free', '2,100'],
    ] as const)
      t.equal(await page.locator('dt', { hasText: label }).first().locator('+ dd').textContent(), figure, label)
    t.match(await page.getByRole('row', { name: /_FAILED|TIMEOUT/ }).allTextContents(), [
      'DNS_FAILED1,500',
      'TIMEOUT600',
    ])
    t.same(await violationsOn(page), [])
    await page.getByText('Show as a table').click()
    const table = page.getByRole('table', { name: 'Last 30 days' })
    t.equal(await table.getByRole('row').count(), 31)
    t.match(await table.getByRole('row').nth(1).textContent(), '4003070')
    t.same(await violationsOn(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  })

t.test(
  'overview: a share of the quota far above the bars is named, not drawn; without a quota there is none',
  async (t) => {
    const page = await openContext()
    await signIn(page)
    for (const [plan, share] of [
      ['pro', /^An even share of the quota: \d+(\.\d)? a day, above this chart$/],
      ['unlimited', undefined],
    ] as const) {
      await setUsage(plan, { completed: 3 })
      await page.reload()
      await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
      t.equal(await page.locator('path.share').count(), 0)
      t.equal(await page.getByText(share ?? /share of the quota/).count(), share ? 1 : 0, plan)
    }
    await database.query('delete from usage_day')
    await page.reload()
    await page
      .getByText(/^Latest|Make your first capture/)
      .first()
      .waitFor()
    t.equal(await page.getByRole('heading', { name: 'Last 30 days' }).count(), 0, 'nothing is shown of nothing')
    t.same(complaints, [])
  },
)
