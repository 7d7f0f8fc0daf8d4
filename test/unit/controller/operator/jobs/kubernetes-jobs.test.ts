import t from 'tap'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { captureLabel } from '#shared/kube/names.ts'
import type { ObservedJob } from '#controller/operator/watch/observed-job.ts'
import { type Answer, beginJobsRunner as begin, jobObject, podObject } from '#test/helpers/jobs-runner.ts'

const refused = (count: number, outcome: Outcome): Answer[] => Array.from({ length: count }, () => outcome)

t.test('Jobs: the list contains unfinished Jobs, without those certain to finish', async (t) => {
  const ends = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'] as const
  const { names } = begin({ present: [jobObject('open'), ...ends.map((end) => jobObject(end, { end }))] })
  t.strictSame(await names(), ['open'])
})

t.test('Jobs: unknown before both informers are synced, or while a watch is down for more than 5 s', async (t) => {
  const { runner, state } = begin({ present: [jobObject('a')] })
  state.hasSynced = false
  await t.rejects(runner.list(), /no watch of the API server/)
  state.hasSynced = true
  state.downMs = 5000
  t.equal((await runner.list()).jobs.length, 1)
  state.downMs = 5001
  await t.rejects(runner.list(), /no watch of the API server/)
})

t.test('Jobs: a created one counts until the informer shows it, at most half a minute', async (t) => {
  const { runner, state, show, names, created } = begin()
  await runner.create(2)
  t.strictSame(await names(), ['new-1', 'new-2'])
  show(jobObject('new-1'), 'added')
  t.strictSame((await names()).toSorted(), ['new-1', 'new-2'])
  show(jobObject('new-1', { end: 'Complete' }))
  t.strictSame(await names(), ['new-2'])
  state.nowMs = 30_001
  t.strictSame(await names(), [])
  t.strictSame(created(), ['new-1', 'new-2'])
})

t.test('Jobs: a Job that the informer never showed is looked up on the server before it is dropped', async (t) => {
  const listed: ObservedJob[] = []
  const { runner, state, names } = begin({ listed })
  await runner.create(2)
  await names()
  listed.push(jobObject('new-1'))
  state.nowMs = 30_001
  t.strictSame(await names(), ['new-1'], 'the watch was down, and the other Job is gone')
})

t.test('Jobs: nothing is created while an earlier call is in flight, or once disposed', async (t) => {
  const { runner, state, created } = begin()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.held = promise
  const slow = runner.create(12)
  await runner.create(12)
  t.equal(created().length, 8)
  const disposed = runner[Symbol.asyncDispose]()
  resolve()
  await Promise.all([slow, disposed])
  t.equal(created().length, 8)
})

t.test('Jobs: a disrupted pod does not count as a failed start', async (t) => {
  const { runner, show } = begin({ present: [jobObject('drained')] })
  const message = 'Pod jobs/drained-x has condition DisruptionTarget matching FailJob rule at index 0'
  const drained = jobObject('drained')
  show({ ...drained, status: { conditions: [{ type: 'FailureTarget', status: 'True', message }] } })
  t.match(await runner.list(), { jobs: [], failed: 0, last: undefined })
})

t.test('Jobs: one created and deleted between two lists does not count', async (t) => {
  const { runner, show, names } = begin()
  await runner.create(1)
  show(jobObject('new-1', { end: 'Complete' }), 'deleted')
  t.strictSame(await names(), [])
})

t.test('Jobs: a creation without a response is retried under the same name, and counts meanwhile', async (t) => {
  const { runner, state, names, created, notices } = begin()
  state.answers.push('unavailable', 'unavailable', 'already-exists')
  await t.rejects(runner.create(1), /planted unavailable/)
  t.strictSame(await names(), ['new-1'])
  await t.rejects(runner.create(0), /planted unavailable/)
  t.strictSame(notices, [])
  await runner.create(1)
  t.strictSame(created(), ['new-1', 'new-1', 'new-1', 'new-2'])
  t.strictSame(
    notices.map(({ kind }) => kind),
    ['created', 'created'],
  )
  await runner.create(0)
  t.equal(created().length, 4)
  t.strictSame((await names()).toSorted(), ['new-1', 'new-2'])
})

t.test('Jobs: a throttled retry does not prove that the first request, whose response was lost, failed', async (t) => {
  const { runner, state, names, created } = begin()
  await names()
  state.answers.push('unavailable', 'too-many-requests', 'already-exists')
  await t.rejects(runner.create(1), /planted unavailable/)
  await t.rejects(runner.create(0), /planted too-many-requests/)
  t.strictSame(await names(), ['new-1'])
  state.nowMs += 1000
  await runner.create(0)
  t.strictSame(created(), ['new-1', 'new-1', 'new-1'])
})

t.test('Jobs: a creation without a response is not retried once the informer shows it', async (t) => {
  const { runner, state, show, created } = begin()
  state.answers.push('unavailable')
  await t.rejects(runner.create(1))
  show(jobObject('new-1'), 'added')
  await runner.create(0)
  t.strictSame(created(), ['new-1'])
})

t.test(
  'Jobs: one whose response was lost still counts if the retry exceeds a quota, which is checked before the name',
  async (t) => {
    const { runner, state, names, created } = begin()
    state.answers.push('unavailable', 'quota', 'already-exists')
    await t.rejects(runner.create(1))
    await t.rejects(runner.create(0), /planted quota/)
    t.strictSame(await names(), ['new-1'])
    await runner.create(0)
    t.strictSame(created(), ['new-1', 'new-1', 'new-1'])
  },
)

t.test('Jobs: refused ones do not count, and their cause is reported', async (t) => {
  const whys = {
    quota: 'quota',
    forbidden: 'config-error',
    invalid: 'config-error',
    'not-found': 'config-error',
  } as const
  for (const [outcome, reason] of Object.entries(whys) as [keyof typeof whys, string][]) {
    const { runner, state, notices } = begin()
    state.answers.push('made', ...refused(2, outcome))
    await t.rejects(runner.create(3), new RegExp(`planted ${outcome}`))
    const listed = await runner.list()
    t.equal(listed.jobs.length, 1)
    t.match(listed, { failed: 2, last: { reason, message: /planted/ } })
    t.match(notices, [{ kind: 'created' }, { kind: 'refused', reason }, { kind: 'refused', reason }])
  }
})

t.test('Jobs: a transient failure is no trouble', async (t) => {
  const { runner, state } = begin()
  await runner.list()
  state.answers.push('too-many-requests')
  await t.rejects(runner.create(1))
  t.match(await runner.list(), { jobs: [], failed: 0 })
})

t.test('Jobs: nothing is sent while the server throttles, and everything afterwards', async (t) => {
  const { runner, state, asked, calls, created } = begin({ present: [jobObject('a'), jobObject('b')] })
  asked.retryAfterSeconds = 5
  state.answers.push(...refused(8, 'too-many-requests'))
  await t.rejects(runner.create(20), /planted too-many-requests/)
  t.equal(created().length, 8, 'requests in flight')
  const sendAll = async () => {
    await runner.create(2)
    await runner.claim('a', 'c')
    await runner.giveUp('b')
  }
  for (; state.nowMs < 5000; state.nowMs += 50) await sendAll()
  t.equal(calls.length, 8)
  await sendAll()
  t.equal(calls.length, 12)
})

t.test('Jobs: the server is not listed while it throttles', async (t) => {
  let lists = 0
  const list = async () => {
    lists += 1
    throw new KubeError('too-many-requests', { message: 'planted' })
  }
  const { runner, state } = begin({ list })
  for (; state.nowMs < 3000; state.nowMs += 50) await t.rejects(runner.list())
  t.equal(lists, 3)
})

t.test('Jobs: the server is listed once, for the last Jobs of a previous leader', async (t) => {
  const listed = [jobObject('late', { captureId: 'c' }), jobObject('over', { end: 'Complete' }), jobObject('seen')]
  const { names, show } = begin({ present: [jobObject('seen')], listed })
  t.strictSame(await names(), ['seen', 'late'])
  show(jobObject('late', { end: 'Complete' }), 'added')
  t.strictSame(await names(), ['seen'])
})

t.test('Jobs: a worker that cannot start has a cause and its duration', async (t) => {
  const { runner, pods, state } = begin({ present: [jobObject('pulls'), jobObject('podless'), jobObject('runs')] })
  const waiting = {
    containerStatuses: [{ name: 'worker', state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } }],
  }
  pods.set('pulls', podObject('pulls', { phase: 'Pending', ...waiting }))
  pods.set('runs', podObject('runs', { phase: 'Running' }))
  await runner.list()
  state.nowMs = 10_000
  t.match((await runner.list()).jobs, [
    { name: 'pulls', trouble: { reason: 'image-pull', message: 'no such image', forMs: 10_000 } },
    { name: 'podless', trouble: undefined },
    { name: 'runs', trouble: undefined },
  ])
  state.nowMs = 10_001
  t.match((await runner.list()).jobs[1], { name: 'podless', trouble: { reason: 'pods-refused', forMs: 0 } })
  pods.set('pulls', podObject('pulls', { phase: 'Running' }))
  t.match((await runner.list()).jobs[0], { name: 'pulls', trouble: undefined })
})

t.test('Jobs: a worker that its node does not start is reported, also after its Job has failed', async (t) => {
  const { runner, pods, state, show } = begin({ present: [jobObject('hangs')] })
  const creating = { containerStatuses: [{ name: 'worker', state: { waiting: { reason: 'ContainerCreating' } } }] }
  const conditions = [{ type: 'PodScheduled', status: 'True' }]
  pods.set('hangs', podObject('hangs', { phase: 'Pending', conditions, ...creating }))
  t.match((await runner.list()).jobs, [{ trouble: undefined }])
  state.startingMs = 120_001
  t.match((await runner.list()).jobs, [{ trouble: { reason: 'not-starting' } }])
  show(jobObject('hangs', { end: 'Failed' }))
  t.match(await runner.list(), { failed: 1, last: { reason: 'not-starting', message: /kubectl describe pod hangs-x/ } })
})

t.test('Jobs: one without a pod is no trouble while earlier ones get theirs', async (t) => {
  const { runner, pods, state, show } = begin({ present: [jobObject('first'), jobObject('second')] })
  await runner.list()
  state.nowMs = 2000
  show(jobObject('third'), 'added')
  const troubled = async (nowMs: number) => {
    state.nowMs = nowMs
    return (await runner.list()).jobs.flatMap(({ name, trouble }) => (trouble ? [`${name} ${trouble.reason}`] : []))
  }
  pods.set('first', podObject('first', { phase: 'Pending' }))
  t.strictSame(await troubled(9000), [])
  t.strictSame(await troubled(19_000), [])
  t.strictSame(await troubled(19_001), ['second pods-refused', 'third pods-refused'])
  pods.set('third', podObject('third', { phase: 'Pending' }))
  t.strictSame(await troubled(19_002), ['second pods-refused'], 'a later Job has got its pod first')
})

t.test('Jobs: a Job that ended before its pod was observed counts as having had a pod', async (t) => {
  const { runner, state, show } = begin({ present: [jobObject('first'), jobObject('second'), jobObject('third')] })
  await runner.list()
  state.nowMs = 9000
  show(jobObject('first', { end: 'Complete' }))
  state.nowMs = 19_000
  const troubled = async () => (await runner.list()).jobs.filter(({ trouble }) => trouble).length
  t.equal(await troubled(), 0)
  show(jobObject('second', { end: 'Failed' }))
  state.nowMs = 19_001
  t.equal(await troubled(), 1, 'a failed Job may never have had a pod')
})

t.test('Jobs: terminating and ended workers are reported even if their Jobs are not finished', async (t) => {
  const { runner, pods } = begin({ present: [jobObject('ended'), jobObject('stopping'), jobObject('runs')] })
  pods.set('ended', podObject('ended', { phase: 'Succeeded' }))
  pods.set('stopping', podObject('stopping', { phase: 'Running' }, { deletionTimestamp: 'now' }))
  pods.set('runs', podObject('runs', { phase: 'Running' }))
  t.match((await runner.list()).jobs, [{ worker: 'ended' }, { worker: 'stopping' }, { worker: undefined }])
})

t.test('Jobs: only those that failed before their claim count as failures', async (t) => {
  const fails = ['unclaimed', 'labelled', 'claimed', 'given up', 'stuck']
  const { runner, pods, show, notices } = begin({
    present: [...fails, 'well', 'deleted'].map((name) => jobObject(name)),
  })
  const waiting = {
    containerStatuses: [{ name: 'worker', state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } }],
  }
  pods.set('stuck', podObject('stuck', { phase: 'Pending', ...waiting }))
  show(jobObject('labelled', { captureId: 'c' }))
  await runner.list()
  await runner.claim('claimed', 'c')
  await runner.giveUp('given up')
  for (const name of fails.slice(0, 4)) show(jobObject(name, { end: 'Failed' }))
  show(jobObject('well', { end: 'Complete' }))
  show(jobObject('deleted'), 'deleted')
  t.match(await runner.list(), { failed: 1, last: { reason: 'crash-looping' } })
  show(jobObject('stuck', { end: 'FailureTarget' }))
  show(jobObject('stuck', { end: 'Failed' }), 'deleted')
  t.match(await runner.list(), { failed: 2, last: { reason: 'image-pull', message: 'no such image' } })
  t.strictSame(
    notices.flatMap((notice) => (notice.kind === 'ended' ? [`${notice.job} ${notice.how}`] : [])),
    [...fails.slice(0, 4).map((name) => `${name} failed`), 'well succeeded', 'deleted vanished', 'stuck failed'],
  )
})

t.test('Jobs: a claim that was written before the first list counts', async (t) => {
  const present = [jobObject('known', { captureId: 'c' }), jobObject('unclaimed'), jobObject('later')]
  const { runner, show } = begin({ present })
  show(jobObject('later', { captureId: 'd' }))
  for (const name of ['known', 'later', 'unclaimed']) show(jobObject(name, { end: 'Failed' }))
  show(jobObject('at once'), 'added')
  show(jobObject('at once', { captureId: 'e', end: 'Failed' }))
  t.equal((await runner.list()).failed, 1)
})

t.test('Jobs: a claim reported by the worker counts', async (t) => {
  const { runner, show, claimed } = begin({ present: [jobObject('claimed')] })
  claimed.add('claimed')
  show(jobObject('claimed', { end: 'Failed' }))
  t.equal((await runner.list()).failed, 0)
})

t.test('Jobs: a claim is written once, whether or not the informer shows it', async (t) => {
  const { runner, calls, show } = begin({ present: [jobObject('a')] })
  await runner.claim('a', 'c')
  await runner.claim('a', 'c')
  t.match((await runner.list()).jobs, [{ name: 'a', captureId: 'c' }])
  show(jobObject('a', { captureId: 'c' }))
  await runner.list()
  await runner.claim('a', 'c')
  t.strictSame(calls, [{ kind: 'patch', name: 'a', body: { metadata: { labels: { [captureLabel]: 'c' } } } }])
})

t.test('Jobs: a failed claim is retried, and none is written to a deleted Job', async (t) => {
  const { runner, calls, state, notices } = begin({ present: [jobObject('a'), jobObject('b')] })
  state.answers.push('unavailable', 'made', 'not-found')
  await t.rejects(runner.claim('a', 'c'))
  await runner.claim('a', 'c')
  await runner.claim('b', 'd')
  await runner.claim('unknown', 'e')
  t.strictSame(
    calls.map(({ name }) => name),
    ['a', 'a', 'b'],
  )
  t.match(notices, [
    { kind: 'claimed', job: 'a' },
    { kind: 'claimed', job: 'b' },
  ])
})

t.test('Jobs: Jobs that succeeded without a claim are listed', async (t) => {
  const present = [
    jobObject('a', { end: 'Complete' }),
    jobObject('b', { end: 'Complete', captureId: 'c' }),
    jobObject('c', { end: 'Failed' }),
    jobObject('d'),
  ]
  const { runner } = begin({ present })
  t.strictSame((await runner.list()).unclaimed, [{ name: 'a' }])
  await runner.claim('a', 'c')
  t.strictSame((await runner.list()).unclaimed, [])
})

t.test('Jobs: giving one up sets a deadline in the past, once', async (t) => {
  const { runner, calls, state } = begin({ present: [jobObject('a')] })
  state.answers.push('unavailable')
  await t.rejects(runner.giveUp('a'))
  await runner.giveUp('a')
  await runner.giveUp('a')
  await runner.giveUp('unknown')
  const patch = { kind: 'patch', name: 'a', body: { spec: { activeDeadlineSeconds: 1 } } }
  t.strictSame(calls, [patch, patch])
})

t.test('Jobs: dispose waits for requests in flight', async (t) => {
  const { runner, names, created } = begin()
  const creating = runner.create(8)
  await runner[Symbol.asyncDispose]()
  t.equal(created().length, 8)
  t.equal((await names()).length, 8)
  await creating
})
