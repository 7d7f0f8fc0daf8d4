import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { WorkQueue } from '#controller/kube/work-queue.ts'
import { createHandClock, settle } from '#test/helpers/hand-clock.ts'

type Run = { readonly key: string; readonly end: () => void; readonly fail: (error: Error) => void }

/** A queue whose work ends when the test says so. */
const setUp = ({ workers = 2, keysMax = 100 } = {}) => {
  const clock = createHandClock()
  const running: Run[] = []
  const began: string[] = []
  const retries: number[] = []
  const work = async (key: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const run = { key, end: resolve, fail: reject }
    began.push(key)
    running.push(run)
    await promise.finally(() => running.splice(running.indexOf(run), 1))
  }
  const queue = new WorkQueue({ clock, work, failed: (_key, _error, ms) => retries.push(ms) }, { workers, keysMax })
  const finish = async (how: (run: Run) => void = (run) => run.end()) => {
    await settle()
    const [run] = running
    if (run) how(run)
    await settle()
  }
  return { clock, queue, running, began, retries, finish }
}

t.test('works on a key that was added many times before its turn once', async (t) => {
  const { queue, began, finish } = setUp({ workers: 1 })
  for (const key of ['a', 'b', 'b', 'b', 'c']) queue.add(key)
  for (let run = 0; run < 4; run += 1) await finish()
  t.strictSame(began, ['a', 'b', 'c'])
})

t.test('works on a key that was added meanwhile once more, never at the same time', async (t) => {
  const { queue, began, running, finish } = setUp({ workers: 4 })
  queue.add('a')
  await settle()
  queue.add('a')
  queue.add('a')
  await settle()
  t.strictSame(
    running.map(({ key }) => key),
    ['a'],
  )
  await finish()
  t.strictSame(began, ['a', 'a'])
  await finish()
  t.equal(running.length, 0)
})

t.test('works on as many keys at once as it has workers', async (t) => {
  const { queue, running, finish } = setUp({ workers: 2 })
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key)
  await settle()
  t.equal(running.length, 2)
  t.equal(queue.depth, 2)
  await finish()
  t.equal(running.length, 2)
  t.equal(queue.depth, 1)
})

t.test('tries a failed key again after 5 ms, doubled up to 5 minutes, and forgets it with a success', async (t) => {
  const { clock, queue, retries, finish } = setUp()
  queue.add('a')
  for (let failure = 0; failure < 20; failure += 1) {
    await finish((run) => run.fail(new Error('no')))
    await clock.advance(retries.at(-1) ?? 0)
  }
  t.strictSame(retries.slice(0, 4), [5, 10, 20, 40])
  t.strictSame(retries.slice(-3), [300_000, 300_000, 300_000])
  await finish()
  queue.add('a')
  await finish((run) => run.fail(new Error('no')))
  t.equal(retries.at(-1), 5)
})

t.test('waits as long as the server asked', async (t) => {
  const { queue, retries, finish } = setUp()
  queue.add('a')
  await finish((run) => run.fail(new AppError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 7 })))
  t.strictSame(retries, [7000])
})

t.test('keeps the earlier of two times for later, and the key waits once', async (t) => {
  const { clock, queue, began } = setUp()
  queue.addAfter('a', 1000)
  queue.addAfter('a', 100)
  queue.addAfter('a', 500)
  await clock.advance(99)
  t.strictSame(began, [])
  await clock.advance(1)
  t.strictSame(began, ['a'])
  await clock.advance(5000)
  t.strictSame(began, ['a'])
})

t.test('refuses a new key when it is full, and takes one that it knows', async (t) => {
  const { queue } = setUp({ workers: 1, keysMax: 3 })
  t.ok(queue.add('a'))
  t.ok(queue.add('b'))
  t.ok(queue.addAfter('c', 1000))
  t.notOk(queue.add('d'))
  t.notOk(queue.addAfter('d', 10))
  t.ok(queue.add('a'))
  t.ok(queue.add('b'))
  t.ok(queue.add('c'))
})

t.test('ends when what runs has ended, and begins nothing more', async (t) => {
  const { clock, queue, began, finish } = setUp({ workers: 1 })
  queue.add('a')
  queue.add('b')
  queue.addAfter('c', 100)
  await settle()
  let isOver = false
  const over = queue[Symbol.asyncDispose]().then(() => (isOver = true))
  await settle()
  t.notOk(isOver)
  await finish()
  await over
  await clock.advance(1000)
  t.strictSame(began, ['a'])
  t.notOk(queue.add('d'))
})

t.test('a failed key that is added waits for its next try, unless what is wished of it has changed', async (t) => {
  const clock = createHandClock()
  const tries: number[] = []
  let desired = 'one'
  const work = async () => {
    tries.push(clock.nowMs())
    throw new AppError('SERVER_ERROR')
  }
  const queue = new WorkQueue(
    { clock, work, failed: () => {}, desiredState: () => desired },
    { workers: 1, keysMax: 10 },
  )
  t.ok(queue.add('a'))
  await clock.advance(76)
  t.ok(queue.add('a'))
  await clock.advance(0)
  t.strictSame(tries, [0, 5, 15, 35, 75])
  desired = 'two'
  queue.add('a')
  await clock.advance(159)
  t.strictSame(tries.slice(5), [76], 'what was to come at 155 has gone')
  await clock.advance(1)
  t.strictSame(tries.slice(6), [236])
})
