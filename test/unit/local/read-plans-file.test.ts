import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { readPlansFile } from '#local/read-plans-file.ts'
import { planFields } from '#shared/db/read-plans.ts'

const root = resolve(import.meta.dirname, '../../..')

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

t.test('read plans file: without a file the default plans apply', async (t) => {
  const slugs = (await readPlansFile('')).map(({ slug }) => slug)
  t.strictSame(slugs, ['free', 'starter', 'pro', 'growth', 'business', 'unlimited'])
})

t.test('read plans file: a file replaces the default plans, except that of the first account', async (t) => {
  t.strictSame(await slugsOf([plan]), ['team', 'unlimited'])
  t.strictSame(await slugsOf([plan, { ...plan, slug: 'unlimited' }]), ['team', 'unlimited'])
})

t.test('read plans file: reports the faults of a file with its path', async (t) => {
  await t.rejects(readPlansFile('/nowhere/plans.json'), { code: 'CONFIGURATION', message: /\/nowhere\/plans\.json/ })
  await t.rejects(slugsOf('{'), { message: /plans\.json.*not JSON/ })
  const two = [
    { ...plan, retention_seconds: 0 },
    { ...plan, slug: 'x', features: ['nonsense'] },
  ]
  await t.rejects(slugsOf(two), {
    message:
      /plan 'team': retention_seconds must be a whole number from 60.*\nplan 'x': features must be a list out of device_presets/,
  })
  const odd = [{ ...plan, name: undefined, quota: 3, constructor: 1, overage_price: 'much', slug: 7 }, 5]
  await t.rejects(slugsOf(odd), {
    message:
      /plan 1: name is required: a string of 1 to 80.*\nplan 1: quota is not a field.*\nplan 1: constructor is not a field.*\nplan 1: slug must be.*\nplan 1: overage_price must be an amount.*or null.*\nplan 2: must be an object; see docs\/plans\.md$/,
  })
})

t.test('read plans file: docs/plans.md lists every field with its bounds, and its sample is valid', async (t) => {
  const page = readFileSync(join(root, 'docs/plans.md'), 'utf8')
  for (const [name, words] of Object.entries(planFields)) t.ok(page.includes(`| \`${name}\` | ${words} |`), name)
  t.match(page, '(examples/plans.json)')
  const plans = await readPlansFile(join(root, 'docs/examples/plans.json'))
  t.strictSame(
    plans.map(({ slug }) => slug),
    ['free', 'team', 'unlimited'],
  )
})
