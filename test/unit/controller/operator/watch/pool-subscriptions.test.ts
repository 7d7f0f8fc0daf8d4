import t from 'tap'
import { openEars } from '#controller/operator/watch/pool-subscriptions.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { backlogCodec, type BeatMessage, beatCodec, startedCodec } from '#shared/queue/messages.ts'
import { backlogSubject, beatSubject, pokeSubject, startedSubject } from '#shared/queue/subjects.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'

const id = '00000000-0000-4000-8000-000000000000'

const setUp = () => {
  const clock = createHandClock()
  const hearers = new Map<RegExp, (message: Incoming) => void>()
  const subscribe: Queue['subscribe'] = (filter, hear) => {
    const pattern = new RegExp(`^${filter.replaceAll('.', '\\.').replaceAll('*', '[^.]+')}$`)
    hearers.set(pattern, hear)
    return { [Symbol.dispose]: () => hearers.delete(pattern) }
  }
  const ears = openEars({ queue: { subscribe }, clock, malformed: () => {} })
  const rung: Pool[] = []
  ears.follow((kind) => rung.push(kind))
  const say = (subject: string, data: Uint8Array = new Uint8Array()) => {
    for (const [pattern, hear] of hearers) {
      if (pattern.test(subject)) hear({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
    }
  }
  const count = (pool: Pool) =>
    say(backlogSubject(pool), backlogCodec.encode({ pool, pending: 1, processing: 0, arrivals10s: 0, oldestMs: 0 }))
  const beat = (pool: Pool, given: Partial<BeatMessage> = {}) => {
    const whole = { pod: 'a', pool, pid: 1, slots: 1, busy: 0, state: 'ready' as const, captures: [], ...given }
    say(beatSubject({ pool, pod: whole.pod }), beatCodec.encode(whole))
  }
  return { clock, ears, rung, say, count, beat, hearers }
}

t.test('each kind of pool is heard for itself', async (t) => {
  const { ears, count, beat } = setUp()
  count('standard')
  beat('stealth', { pod: 's' })
  t.match(ears.of('standard').backlog(), { pending: 1 })
  t.equal(ears.of('stealth').backlog(), 'unknown')
  t.strictSame([...ears.of('stealth').beats.keys()], ['s'])
  t.strictSame([...ears.of('standard').beats.keys()], [])
})

t.test('a poke and a change of state ring for the kind, a repeat does not', async (t) => {
  const { rung, say, beat } = setUp()
  say(pokeSubject('stealth'))
  beat('standard')
  beat('standard')
  beat('standard', { busy: 1 })
  beat('standard', { state: 'drained' })
  t.strictSame(rung, ['stealth', 'standard', 'standard'])
})

t.test('what the workers of Jobs say is remembered, and rings', async (t) => {
  const { ears, rung, say, beat } = setUp()
  beat('proxied', { pod: 'job-1' })
  say(startedSubject({ pool: 'proxied', id }), startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'job-1' }))
  t.match(ears.reports.of('job-1'), { captureId: id })
  t.strictSame(rung, ['proxied', 'proxied'])
})

const waits = async (run: (world: ReturnType<typeof setUp>) => Promise<void>, pods: readonly string[] = []) => {
  const world = setUp()
  let hasHeard = false
  const { signal } = new AbortController()
  void world.ears.haveHeard('standard', () => pods, signal).then(() => (hasHeard = true))
  await run(world)
  return hasHeard
}

t.test('everything was heard once the ledger has counted and every worker has had time to beat', async (t) => {
  t.notOk(await waits(({ clock }) => clock.advance(4900)))
  t.notOk(
    await waits(async ({ clock, count }) => {
      count('standard')
      await clock.advance(2400)
    }),
  )
  t.ok(
    await waits(async ({ clock, count }) => {
      count('standard')
      await clock.advance(2500)
    }),
  )
})

t.test('a worker that is known to be ready is waited for until it has beaten', async (t) => {
  const hasHeard = (pod: string) =>
    waits(
      async ({ clock, count, beat }) => {
        count('standard')
        beat('standard', { pod })
        await clock.advance(2500)
      },
      ['a'],
    )
  t.ok(await hasHeard('a'))
  t.notOk(await hasHeard('b'))
})

t.test('what is not said is not waited for longer than five seconds', async (t) => {
  t.ok(await waits(({ clock }) => clock.advance(5000)))
})

t.test('once disposed nothing is heard any more', async (t) => {
  const { ears, hearers } = setUp()
  t.ok(hearers.size > 0)
  ears[Symbol.dispose]()
  t.equal(hearers.size, 0)
})
