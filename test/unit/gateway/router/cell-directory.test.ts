import t from 'tap'
import type { Cell } from '#shared/config/settings/router.ts'
import type { Says } from '#gateway/router/ask-cell.ts'
import { clientAt, parseHop } from '#shared/policy/client.ts'
import { CellDirectory } from '#gateway/router/cell-directory.ts'

const cells: readonly Cell[] = ['one', 'two', 'three'].map((name) => ({ name, url: `http://${name}` }))
type Answer = Says | 'silent'

const clientOf = (address = '192.0.2.1') => clientAt(parseHop(address))

/** A directory of three cells, each of which says whether it knows a credential, or nothing. */
const directoryOf = (says: Record<string, Answer>, known = cells, waiting = () => {}) => {
  const asked: string[] = []
  const outcomes: string[] = []
  let now = 0
  const directory = new CellDirectory({
    cells: known,
    ask: async ({ name }) => {
      asked.push(name)
      await Promise.resolve()
      const said = says[name] ?? 'knows not'
      if (said === 'silent') throw new Error('no answer')
      return said
    },
    events: {
      located: (outcome) => outcomes.push(outcome),
      contradicted: (claiming) => outcomes.push(`${claiming.map(({ name }) => name).join(' and ')} claim it`),
      silent: ({ name }) => outcomes.push(`${name} is silent`),
      notAsked: ({ name }) => outcomes.push(`${name} is not asked`),
    },
    nowMs: () => now,
    wait: async () => waiting(),
  })
  const find = async (value = 'key', address = '192.0.2.1') =>
    (await directory.find({ kind: 'key', value }, clientOf(address)))?.name
  const forget = () => directory.forget({ kind: 'key', value: 'key' })
  const doubt = () => directory.doubt({ kind: 'key', value: 'key' })
  return { directory, find, forget, doubt, asked, outcomes, pass: (ms: number) => (now += ms) }
}

t.test('all cells are asked once for a credential, also by requests at the same time', async (t) => {
  const { find, asked, outcomes } = directoryOf({ two: 'serves' })
  t.same(await Promise.all([find(), find()]), ['two', 'two'])
  t.equal(await find(), 'two')
  t.same(asked, ['one', 'two', 'three'])
  t.same(outcomes, ['found'])
})

t.test('a credential that several cells claim to serve leads to none of them', async (t) => {
  const says: Record<string, Answer> = { one: 'serves', three: 'serves' }
  const { find, outcomes } = directoryOf(says)
  await t.rejects(find(), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 })
  t.same(outcomes, ['contradicted', 'one and three claim it'])
  says['three'] = 'knows not'
  t.equal(await find(), 'one', 'none is remembered')
})

t.test(
  'of an account that leaves one cell for another the one that serves it is found; between them a request waits',
  async (t) => {
    const says: Record<string, Answer> = { one: 'serves', two: 'away' }
    const { find, forget } = directoryOf(says)
    t.equal(await find(), 'one')
    says['one'] = 'away'
    forget()
    await t.rejects(find(), { code: 'SERVICE_UNAVAILABLE', publicMessage: /is being moved/, retryAfterSeconds: 1 })
    const arrive = () => {
      says['two'] = 'serves'
    }
    const arriving = directoryOf(says, cells, arrive)
    t.equal(await arriving.find(), 'two', 'a request waits for its arrival')
    t.same(arriving.outcomes, ['away', 'found'])
  },
)

t.test('they are asked again once the cell has refused it, and after ten minutes', async (t) => {
  const says: Record<string, Answer> = { two: 'serves' }
  const { find, forget, pass } = directoryOf(says)
  await find()
  says['two'] = 'knows not'
  says['three'] = 'serves'
  t.equal(await find(), 'two')
  forget()
  t.equal(await find(), 'three')
  says['three'] = 'knows not'
  says['one'] = 'serves'
  pass(599_999)
  t.equal(await find(), 'three')
  pass(1)
  t.equal(await find(), 'one')
})

t.test(
  'they are asked again a second after the cell was unavailable, but it is remembered while one is silent',
  async (t) => {
    const says: Record<string, Answer> = { two: 'serves' }
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
    says['two'] = 'knows not'
    says['three'] = 'serves'
    t.equal(await find(), 'three', 'it has moved')
    t.equal(await find(), 'three')
    t.equal(asked.length, 9)
  },
)

t.test(
  'a cell that is silent keeps nobody else from being found; only what is unknown to the others may be its',
  async (t) => {
    const { find, outcomes } = directoryOf({ one: 'silent', three: 'serves' })
    t.equal(await find(), 'three')
    const lone = directoryOf({ one: 'silent' })
    await t.rejects(lone.find(), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 })
    t.same(outcomes, ['one is silent', 'found'])
    t.same(lone.outcomes, ['one is silent', 'silent'])
  },
)

t.test('a cell that was silent is not waited for within the next second', async (t) => {
  const says: Record<string, Answer> = { one: 'silent', two: 'serves' }
  const { find, pass, asked, outcomes } = directoryOf(says)
  await find('of two')
  says['one'] = 'serves'
  says['two'] = 'knows not'
  await t.rejects(find('of one'), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(asked.filter((name) => name === 'one').length, 1)
  t.same(outcomes, ['one is silent', 'found', 'one is not asked', 'silent'])
  pass(1000)
  t.equal(await find('of one'), 'one')
})

t.test('once found, a credential keeps its cell while that is silent', async (t) => {
  const says: Record<string, Answer> = { one: 'serves' }
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

t.test('at most 500 credentials are asked for at a time, a quarter of them for one client', async (t) => {
  const { find } = directoryOf({})
  const refusals = async (finds: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(finds)).filter(({ status }) => status === 'rejected').length
  const many = Array.from({ length: 505 }, (_, index) => find(String(index), `192.0.2.${index % 5}`))
  t.equal(await refusals(many), 5, 'of five clients')
  const one = Array.from({ length: 130 }, (_, index) => find(`one ${index}`))
  const other = find('of another client', '198.51.100.1')
  t.equal(await refusals(one), 5)
  t.equal(await other, undefined, 'whom the first does not keep out')
  t.equal(await find(), undefined)
})

t.test('a single cell is not asked', async (t) => {
  const { find, asked } = directoryOf({}, cells.slice(0, 1))
  t.equal(await find(), 'one')
  t.same(asked, [])
})
