import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { waitForEnd } from '#gateway/capture/wait-for-end.ts'
import { completedCapture, pendingCapture } from '#test/helpers/gateway-context.ts'

const of = { id: completedCapture.id, accountId: completedCapture.accountId }
const longMs = 60_000

const start = (looks: (() => typeof pendingCapture | undefined)[]) => {
  const waits: number[] = []
  const deps = {
    captures: { find: async () => looks.shift()?.() },
    waiters: { isStopping: () => false },
  }
  const waiter = {
    waitForChange: async (ms: number) => {
      waits.push(ms)
    },
  }
  return { deps, waiter, waits }
}

t.test('wait for end: the row decides, however often it is woken', async (t) => {
  const { deps, waiter, waits } = start([
    () => pendingCapture,
    () => ({ ...pendingCapture, status: 'processing' }),
    () => completedCapture,
  ])
  t.same(await waitForEnd(deps, waiter, of, longMs), { capture: completedCapture })
  t.same(waits, [1000, 1000, 1000], 'it looks every second at least')
})

t.test('wait for end: a database that is away for a while does not end the wait', async (t) => {
  const away = () => {
    throw new AppError('SERVICE_UNAVAILABLE')
  }
  const { deps, waiter } = start([away, away, () => completedCapture])
  t.same(await waitForEnd(deps, waiter, of, longMs), { capture: completedCapture })
})

t.test('wait for end: a deleted capture ends the wait, and so does any other fault', async (t) => {
  const gone = start([() => undefined])
  await t.rejects(waitForEnd(gone.deps, gone.waiter, of, longMs), { code: 'NOT_FOUND' })
  const broken = start([
    () => {
      throw new TypeError('broken')
    },
  ])
  await t.rejects(waitForEnd(broken.deps, broken.waiter, of, longMs), { message: 'broken' })
})

t.test('wait for end: the capture goes on when the time is over or the gateway stops', async (t) => {
  const { deps, waiter } = start([])
  t.equal(await waitForEnd(deps, waiter, of, 0), 'goes-on')
  t.equal(await waitForEnd({ ...deps, waiters: { isStopping: () => true } }, waiter, of, longMs), 'goes-on')
})
