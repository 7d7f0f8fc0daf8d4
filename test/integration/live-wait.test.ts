import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const gateway = await startGateway(t, { LIVE_ACCOUNT_MAX: '1' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const image = Buffer.from('an image')
const pages: Record<string, Behaviour> = {
  'https://example.com/never': 'nothing',
  'https://example.com/late': { fails: 'TIMEOUT' },
}
const fleet = startStandInFleet(gateway, ({ options: { url } }) => pages[url ?? ''] ?? { image })
t.teardown(() => fleet[Symbol.asyncDispose]())

const newAccount = async () => {
  const { id: accountId } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId, name: '', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const create = async (page: string) => {
    const body = JSON.stringify({ url: `https://example.com/${page}` })
    const answer = await fetch(`${baseUrl}/v1/screenshots`, { method: 'POST', headers, body })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  const status = async (id: string, query: string) => {
    const answer = await fetch(`${baseUrl}/v1/screenshots/${id}${query}`, { headers })
    const { data, error } = (await answer.json()) as { data: { status: string }; error: Record<string, unknown> }
    return { code: answer.status, status: data?.status, error }
  }
  const wait = (id: string, signal: AbortSignal | null = null) =>
    fetch(`${baseUrl}/v1/screenshots/${id}?wait=60`, { headers, signal })
  return { create, status, wait }
}

/** A page whose capture goes on until `end` is called. */
const heldPage = (name: string) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let reached = false
  const before = () => {
    reached = true
    return promise
  }
  pages[`https://example.com/${name}`] = { image, before }
  return { end: resolve, reached: () => reached }
}

const ended = 'responds at the end'

t.test('live wait: a status with `wait` responds once the capture has ended', async (t) => {
  const { create, status } = await newAccount()
  const page = heldPage('held')
  const id = await create('held')
  const answer = status(id, '?wait=60').then((received) => ({ ...received, what: ended }))
  await eventually(page.reached)
  t.match(await status(id, ''), { code: 200, status: 'pending' }, 'at once without `wait`')
  page.end()
  t.match(await answer, { code: 200, status: 'completed', what: ended })
  t.match(await status(await create('late'), '?wait=60'), { code: 200, status: 'failed' })
  t.match(await status(id, '?wait=60'), { code: 200, status: 'completed' }, 'at once if it has ended before')
})

t.test('live wait: a status with `wait` responds with the current state after that many seconds', async (t) => {
  const { create, status } = await newAccount()
  const id = await create('never')
  t.match(await status(id, '?wait=0'), { code: 200, status: 'pending' })
  t.match(await status(id, '?wait=1'), { code: 200, status: 'pending' })
})

t.test('live wait: an invalid wait and unknown parameters are 422, all of them named', async (t) => {
  const { create, status } = await newAccount()
  const id = await create('never')
  for (const wait of ['61', '-1', '1.5', 'x', '']) {
    t.match(await status(id, `?wait=${wait}`), { code: 422, error: { details: { wait: [String] } } }, wait)
  }
  const details = { wiat: [String], more: [String] }
  t.match(await status(id, '?wiat=5&more'), { code: 422, error: { code: 'VALIDATION_ERROR', details } })
})

t.test('live wait: waiting for an unknown, foreign or meanwhile deleted capture is 404', async (t) => {
  const { create, status } = await newAccount()
  const other = await newAccount()
  const id = await create('never')
  t.match(await other.status(id, '?wait=60'), { code: 404, error: { code: 'NOT_FOUND' } })
  t.match(await status('batch1', '?wait=60'), { code: 404 })
  const waiting = status(id, '?wait=60')
  await database.query('delete from capture where id = $1', [id])
  t.match(await waiting, { code: 404, error: { code: 'NOT_FOUND' } })
})

t.test('live wait: over the limit the record is returned at once; a client that disconnects makes room', async (t) => {
  const { create, wait, status } = await newAccount()
  const page = heldPage('busy')
  const id = await create('busy')
  await eventually(page.reached)
  /** True if a request waits: it has no response after 20 later requests. */
  const waits = async (answer: Promise<unknown>) => {
    let answered = false
    void answer.finally(() => (answered = true)).catch(() => undefined)
    for (let others = 0; others < 20; others += 1) await status(id, '')
    return !answered
  }
  const client = new AbortController()
  t.equal(await waits(wait(id, client.signal)), true, 'the only slot of the account is taken')
  t.match(await status(id, '?wait=60'), { code: 200, status: 'pending' })
  client.abort()
  let waiting: Promise<unknown> = Promise.resolve()
  await eventually(async () => {
    waiting = wait(id)
    return waits(waiting)
  })
  page.end()
  t.match(await waiting, { status: 200 })
})
