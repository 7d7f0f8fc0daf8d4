import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readPlansFile } from '#local/read-plans-file.ts'

const plan = {
  slug: 'team',
  name: 'Team',
  screenshots_per_month: 10,
  rate_limit_per_minute: 5,
  retention_seconds: 3600,
  features: ['pdf'],
  overage_price: null,
  max_api_keys: 1,
}

const slugsOf = async (content: unknown) => {
  const path = join(t.testdir(), 'plans.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return (await readPlansFile(path)).map(({ slug }) => slug)
}

t.test("without a file the contract's plans hold", async (t) => {
  const slugs = (await readPlansFile('')).map(({ slug }) => slug)
  t.strictSame(slugs, ['free', 'starter', 'pro', 'growth', 'business', 'unlimited'])
})

t.test('a file replaces them, and the plan of the first account stays', async (t) => {
  t.strictSame(await slugsOf([plan]), ['team', 'unlimited'])
  t.strictSame(await slugsOf([plan, { ...plan, slug: 'unlimited' }]), ['team', 'unlimited'])
})

t.test('says what is wrong with a file, and which file', async (t) => {
  await t.rejects(readPlansFile('/nowhere/plans.json'), { code: 'CONFIGURATION', message: /\/nowhere\/plans\.json/ })
  await t.rejects(slugsOf('{'), { message: /plans\.json.*not JSON/ })
  const two = [
    { ...plan, retention_seconds: 0 },
    { ...plan, slug: 'x', features: ['nonsense'] },
  ]
  await t.rejects(slugsOf(two), { message: /retention_seconds[^]*features/ })
})
