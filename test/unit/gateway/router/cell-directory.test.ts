import t from 'tap'
import type { Cell } from '#shared/config/settings/router.ts'
import { CellDirectory } from '#gateway/router/cell-directory.ts'

const cells: readonly Cell[] = ['one', 'two', 'three'].map((name) => ({ name, url: `http://${name}` }))
type Says = boolean | 'silent'

/** A directory of three cells, each of which says whether it knows a credential, or nothing. */
const directoryOf = (says: Record<string, Says>, known = cells) => {
  const asked: string[] = []
  const outcomes: string[] = []
  let now = 0
  const directory = new CellDirectory({
    cells: known,
    ask: async ({ name }) => {
      asked.push(name)
      await Promise.resolve()
      const said = says[name] ?? false
      if (said === 'silent') throw new Error('no answer')
      return said
    },
    events: {
      located: (outcome) => outcomes.push(outcome),
      silent: ({ name }) => outcomes.push(`${name} is silent`),
      notAsked: ({ name }) => outcomes.push(`${name} is not asked`),
    },
    nowMs: () => now,
  })
  const find = async (value = 'key') => (await directory.find({ kind: 'key', value }))?.name
  const forget = () => directory.forget({ kind: 'key', value: 'key' })
  const doubt = () => directory.doubt({ kind: 'key', value: 'key' })
  return { directory, find, forget, doubt, asked, outcomes, pass: (ms: number) => (now += ms) }
}

t.test('all cells are asked once for a credential, also by requests at the same time', async (t) => {
  const { find, asked, outcomes } = directoryOf({ two: true })
  t.same(await Promise.all([find(), find()]), ['two', 'two'])
  t.equal(await find(), 'two')
  t.same(asked, ['one', 'two', 'three'])
  t.same(outcomes, ['found'])
})

t.test('a link whose signature was changed is another credential than the link', async (t) => {
  const says: Record<string, Says> = { two: true }
  const { directory } = directoryOf(says)
  const link = (query: string) => ({ kind: 'image', value: 'id', query }) as const
  t.equal((await directory.find(link('signature=00')))?.name, 'two')
  says['two'] = false
  t.equal(await directory.find(link('signature=01')), undefined)
  directory.forget(link('signature=01'))
  t.equal((await directory.find(link('signature=00')))?.name, 'two')
})

t.test('they are asked again once the cell has refused it, and after ten minutes', async (t) => {
  const says: Record<string, Says> = { two: true }
  const { find, forget, pass } = directoryOf(says)
  await find()
  says['two'] = false
  says['three'] = true
  t.equal(await find(), 'two')
  forget()
  t.equal(await find(), 'three')
  says['three'] = false
  says['one'] = true
  pass(599_999)
  t.equal(await find(), 'three')
  pass(1)
  t.equal(await find(), 'one')
})

t.test(
  'they are asked again a second after the cell was unavailable, but it is remembered while one is silent',
  async (t) => {
    const says: Record<string, Says> = { two: true }
    const { find, doubt, pass, asked } = directoryOf(says)
    doubt()
    await find()
    doubt()
    says['two'] = 'silent'
    t.equal(await find(), 'two')
    t.equal(asked.length, 3, 'not within a second')
    pass(1000)
    t.equal(await find(), 'two')
    t.equal(asked.length, 6)
    pass(1000)
    says['two'] = false
    says['three'] = true
    t.equal(await find(), 'three', 'it has moved')
    t.equal(await find(), 'three')
    t.equal(asked.length, 9)
  },
)

t.test(
  'a cell that is silent keeps nobody else from being found; only what is unknown to the others may be its',
  async (t) => {
    const { find, outcomes } = directoryOf({ one: 'silent', three: true })
    t.equal(await find(), 'three')
    const lone = directoryOf({ one: 'silent' })
    await t.rejects(lone.find(), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 })
    t.same(outcomes, ['one is silent', 'found'])
    t.same(lone.outcomes, ['one is silent', 'silent'])
  },
)

t.test('a cell that was silent is not waited for within the next second', async (t) => {
  const says: Record<string, Says> = { one: 'silent', two: true }
  const { find, pass, asked, outcomes } = directoryOf(says)
  await find('of two')
  says['one'] = true
  says['two'] = false
  await t.rejects(find('of one'), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(asked.filter((name) => name === 'one').length, 1)
  t.same(outcomes, ['one is silent', 'found', 'one is not asked', 'silent'])
  pass(1000)
  t.equal(await find('of one'), 'one')
})

t.test('once found, a credential keeps its cell while that is silent', async (t) => {
  const says: Record<string, Says> = { one: true }
  const { find, pass, asked } = directoryOf(says)
  await find()
  says['one'] = 'silent'
  pass(600_000)
  t.same([await find(), await find()], ['one', 'one'])
  t.equal(asked.filter((name) => name === 'one').length, 2, 'which is asked again by one request a second')
})

t.test('what all say not to know is of none, and is asked for again', async (t) => {
  const { find, asked } = directoryOf({})
  t.equal(await find(), undefined)
  t.equal(await find(), undefined)
  t.equal(asked.length, 6)
})

t.test('at most 500 credentials are asked for at a time', async (t) => {
  const { find } = directoryOf({})
  const finds = Array.from({ length: 501 }, (_, index) => find(String(index)))
  const results = await Promise.allSettled(finds)
  t.equal(results.filter(({ status }) => status === 'rejected').length, 1)
  t.equal(await find(), undefined)
})

t.test('a single cell is not asked', async (t) => {
  const { find, asked } = directoryOf({}, cells.slice(0, 1))
  t.equal(await find(), 'one')
  t.same(asked, [])
})
