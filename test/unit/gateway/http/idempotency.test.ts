import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { Caller } from '#shared/db/check-request.ts'
import { answerIdempotently, type IdempotencyStore } from '#gateway/http/idempotency.ts'

const received = {
  operation: { name: 'create_webhook', path: '/webhooks' },
  exchange: {
    headers: { 'idempotency-key': 'k' },
    params: {},
    query: '',
    readBody: async () => Buffer.from('{}'),
  },
  caller: { accountId: 'a' } as Caller,
}
const created = { status: 201, body: { data: { id: 'w' } } }

/** Records the calls that have ended; each ends in a later turn of the event loop. */
const createStore = (failing: 'release' | 'save' | undefined) => {
  const ended: string[] = []
  const end = (name: 'release' | 'save') => async () => {
    await nextTurn()
    ended.push(name)
    if (name === failing) throw new Error('the database is unavailable')
  }
  const claim: IdempotencyStore['claim'] = async () => ({ outcome: 'claimed', claimedAt: 'now' })
  return { ended, store: { claim, release: end('release'), save: end('save') } }
}

t.test('idempotency: a failed request has released its key before its caller can repeat it', async (t) => {
  for (const failing of [undefined, 'release'] as const) {
    const { store, ended } = createStore(failing)
    const run = async () => {
      throw new Error('receiver refused')
    }
    await t.rejects(answerIdempotently(store, received, run), { message: 'receiver refused' })
    t.same(ended, ['release'])
  }
})

t.test('idempotency: a response is stored before it is sent, and sent even if that fails', async (t) => {
  for (const failing of [undefined, 'save'] as const) {
    const { store, ended } = createStore(failing)
    t.equal(await answerIdempotently(store, received, async () => created), created)
    t.same(ended, ['save'])
  }
})
