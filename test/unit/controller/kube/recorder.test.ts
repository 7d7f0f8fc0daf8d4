import t from 'tap'
import { KubeError } from '#shared/kube/kube-error.ts'
import { type Occurrence, Recorder } from '#controller/kube/recorder.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'

const deployments = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }
const scaledUp: Occurrence = {
  regarding: { resource: deployments, object: { metadata: { namespace: 'n', name: 'web', uid: 'u1' } } },
  type: 'Normal',
  reason: 'ScaledUp',
  action: 'Scale',
  note: 'from 1 to 2',
}

const setUp = () => {
  const clock = createHandClock()
  const created: Record<string, unknown>[] = []
  const counts: number[] = []
  const warnings: unknown[] = []
  const state = { fails: false, untilAnswer: Promise.resolve() }
  const answer = async () => {
    await state.untilAnswer
    if (state.fails) throw new KubeError('unavailable', { message: 'away' })
  }
  const api = asKubeApi({
    create: async (_of: unknown, object: object) => {
      await answer()
      created.push(object as Record<string, unknown>)
      return {}
    },
    patch: async (_ref: unknown, { body }: { body: object }) => {
      await answer()
      counts.push((body as { series: { count: number } }).series.count)
      return {}
    },
  })
  const recorder = new Recorder({ api, clock, log: { warn: (...of: unknown[]) => warnings.push(of) } }, 'pod-1')
  return { clock, created, counts, warnings, state, recorder }
}

t.test('recorder: writes an event of events.k8s.io/v1', async (t) => {
  const { clock, created, recorder } = setUp()
  recorder.record(scaledUp)
  await clock.advance(0)
  t.match(created, [
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'n', name: /^web\.[0-9a-f]{16}$/ },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'shutterfleet.dev/controller',
      reportingInstance: 'pod-1',
      regarding: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'n', name: 'web', uid: 'u1' },
      type: 'Normal',
      reason: 'ScaledUp',
      action: 'Scale',
      note: 'from 1 to 2',
    },
  ])
})

t.test('recorder: counts repeats of object, reason and action in one event, updated in batches', async (t) => {
  const { clock, created, counts, recorder } = setUp()
  for (let time = 0; time < 5; time += 1) recorder.record(scaledUp)
  await clock.advance(29_000)
  t.equal(created.length, 1)
  t.strictSame(counts, [])
  await clock.advance(1000)
  t.strictSame(counts, [5])
  recorder.record(scaledUp)
  await clock.advance(30_000)
  t.strictSame(counts, [5, 6])
})

t.test('recorder: repeats whose latest note differs become a new event with that note', async (t) => {
  const { clock, created, counts, recorder } = setUp()
  for (const to of [2, 3, 4]) recorder.record({ ...scaledUp, note: `to ${to}` })
  await clock.advance(30_000)
  t.match(created, [{ note: 'to 2' }, { note: 'to 4', series: { count: 2 } }])
  t.notOk('series' in created[0]!)
  recorder.record({ ...scaledUp, note: 'to 4' })
  await clock.advance(30_000)
  t.strictSame(counts, [3], 'counting continues')
  recorder.record({ ...scaledUp, note: 'to 5' })
  await clock.advance(30_000)
  t.equal(created.length, 3)
  t.match(created[2], { note: 'to 5' })
  t.notOk('series' in created[2]!)
})

t.test('recorder: another object, reason, action or type is another event', async (t) => {
  const { clock, created, recorder } = setUp()
  recorder.record(scaledUp)
  recorder.record({ ...scaledUp, reason: 'Held' })
  recorder.record({ ...scaledUp, action: 'Observe' })
  recorder.record({ ...scaledUp, type: 'Warning' })
  const object = { metadata: { namespace: 'n', name: 'web', uid: 'u2' } }
  recorder.record({ ...scaledUp, regarding: { resource: deployments, object } })
  await clock.advance(60_000)
  t.equal(created.length, 5)
})

t.test('recorder: a repeat after six minutes is a new event', async (t) => {
  const { clock, created, recorder } = setUp()
  recorder.record(scaledUp)
  await clock.advance(360_000)
  recorder.record(scaledUp)
  await clock.advance(0)
  t.equal(created.length, 2)
})

t.test('recorder: writes at most 25 at once and one per second, and warns once about dropped events', async (t) => {
  const { clock, created, warnings, recorder } = setUp()
  const many = () => {
    for (let each = 0; each < 100; each += 1) recorder.record({ ...scaledUp, reason: `R${each}x${created.length}` })
  }
  many()
  await clock.advance(10_000)
  t.equal(created.length, 25)
  many()
  await clock.advance(0)
  t.equal(created.length, 35)
  t.equal(warnings.length, 1)
})

t.test('recorder: queues at most 50 while the server does not respond', async (t) => {
  const { clock, created, state, recorder } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.untilAnswer = promise
  for (let each = 0; each < 100; each += 1) {
    recorder.record({ ...scaledUp, reason: `R${each}` })
    await clock.advance(1000)
  }
  resolve()
  await clock.advance(0)
  t.equal(created.length, 50)
})

t.test('recorder: logs a failure without throwing, and creates the event on the next repeat', async (t) => {
  const { clock, created, warnings, state, recorder } = setUp()
  state.fails = true
  recorder.record(scaledUp)
  await clock.advance(0)
  t.equal(warnings.length, 1)
  state.fails = false
  recorder.record(scaledUp)
  await clock.advance(0)
  t.equal(created.length, 1)
})

t.test('recorder: writes pending counts when disposed, and nothing afterwards', async (t) => {
  const { clock, created, counts, recorder } = setUp()
  recorder.record(scaledUp)
  recorder.record(scaledUp)
  await recorder[Symbol.asyncDispose]()
  t.strictSame(counts, [2])
  recorder.record({ ...scaledUp, reason: 'Later' })
  await clock.advance(60_000)
  t.equal(created.length, 1)
})
