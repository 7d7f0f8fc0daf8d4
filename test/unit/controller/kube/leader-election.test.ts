import t from 'tap'
import { readEnv } from '#shared/config/read-env.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { KubeError } from '#shared/kube/kube-error.ts'
import { electionTiming, LeaderElector } from '#controller/kube/leader-election.ts'
import type { Term } from '#controller/kube/term.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'

type Lease = {
  metadata: { resourceVersion: string }
  spec: { holderIdentity: string; leaseDurationSeconds: number; renewTime: string; leaseTransitions: number }
}

/** An API server that keeps one Lease, compares versions, and can be unreachable. */
const createLeaseApi = () => {
  const state = { lease: undefined as Lease | undefined, isAway: false, writes: 0, comparesVersions: true }
  const answer = async () => {
    if (state.isAway) throw new KubeError('unavailable', { message: 'away' })
  }
  const write = (spec: object) => {
    state.writes += 1
    state.lease = { metadata: { resourceVersion: String(state.writes) }, spec: spec as Lease['spec'] }
    return state.lease
  }
  const api = asKubeApi({
    get: async () => {
      await answer()
      if (!state.lease) throw new KubeError('not-found', { message: 'none' })
      return state.lease
    },
    create: async (_of: unknown, object: object) => {
      await answer()
      if (state.lease) throw new KubeError('already-exists', { message: 'is there' })
      return write((object as Lease).spec)
    },
    patch: async (_ref: unknown, { body }: { body: object }) => {
      await answer()
      const { metadata, spec } = body as Lease
      if (state.comparesVersions && metadata.resourceVersion !== state.lease?.metadata.resourceVersion)
        throw new KubeError('conflict', { message: 'changed' })
      return write(spec)
    },
  })
  return { state, api }
}

const timing = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 }

type LeaseApi = Pick<KubeApi, 'get' | 'create' | 'patch'>

const elect = (api: LeaseApi, clock: Clock, identity: string, { random = 0, of = timing } = {}) => {
  const terms: Term[] = []
  const calls: string[] = []
  const elector = new LeaderElector(
    {
      api,
      clock,
      random: () => random,
      began: (term) => {
        terms.push(term)
        calls.push('began')
      },
      ended: () => calls.push('ended'),
      failed: () => calls.push('failed'),
    },
    { namespace: 'default', name: 'lead', identity, timing: of },
  )
  return { elector, terms, calls }
}

t.test('leader election: the first candidate leads and renews, the second waits', async (t) => {
  const { state, api } = createLeaseApi()
  const clock = createHandClock()
  const one = elect(api, clock, 'one')
  await clock.advance(100)
  const two = elect(api, clock, 'two')
  await clock.advance(120_000)
  t.ok(one.elector.isLeader())
  t.notOk(two.elector.isLeader())
  t.equal(state.lease?.spec.holderIdentity, 'one')
  t.equal(state.lease?.spec.leaseDurationSeconds, 15)
  t.match(state.lease?.spec.renewTime, /^2026-01-01T00:02:00\.\d{6}Z$/)
  t.strictSame([one.calls, two.calls], [['began'], []])
})

t.test('leader election: a stopping leader lets the next lead within 5 s, and the terms do not overlap', async (t) => {
  const { state, api } = createLeaseApi()
  const clock = createHandClock()
  const one = elect(api, clock, 'one')
  await clock.advance(100)
  const two = elect(api, clock, 'two')
  await clock.advance(7000)
  await one.elector[Symbol.asyncDispose]()
  t.notOk(one.elector.isLeader())
  t.match(state.lease?.spec, { holderIdentity: '', leaseDurationSeconds: 1 })
  await clock.advance(5000)
  t.ok(two.elector.isLeader())
  t.equal(state.lease?.spec.leaseTransitions, 1)
  t.strictSame(one.calls, ['began', 'ended'])
})

t.test(
  'leader election: a vanished leader is replaced once its lease has expired by the local clock, and not before',
  async (t) => {
    const { state, api } = createLeaseApi()
    const clock = createHandClock()
    const lost = { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' }
    state.lease = { metadata: { resourceVersion: 'x' }, spec: { ...lost, leaseTransitions: 4 } }
    const { elector } = elect(api, clock, 'two')
    await clock.advance(15_000)
    t.notOk(elector.isLeader(), 'however old the time in the Lease')
    await clock.advance(5000)
    t.ok(elector.isLeader())
    t.equal(state.lease?.spec.leaseTransitions, 5)
  },
)

// docs/operator.md, "Behaviour on failures", states the bound: these 9 s, and 2.5 s in which a new leader listens for heartbeats.
t.test('leader election: with the default Lease a killed leader is replaced within 9 s, at any moment', async (t) => {
  const { leaseSeconds } = readEnv({ leaseSeconds: operatorSettings.leaseSeconds }, {})
  const of = electionTiming(leaseSeconds)
  for (let killedAtMs = 10_000; killedAtMs < 10_000 + 3 * of.retryMs; killedAtMs += 100) {
    const { api } = createLeaseApi()
    const clock = createHandClock()
    let isKilled = false
    const killable = new Proxy(api, {
      get: (from, name: keyof LeaseApi) => (isKilled ? () => new Promise<never>(() => {}) : from[name]),
    })
    const one = elect(killable, clock, 'one', { random: 0.99, of })
    await clock.advance(100)
    const two = elect(api, clock, 'two', { random: 0.99, of })
    await clock.advance(killedAtMs)
    t.ok(one.elector.isLeader())
    isKilled = true
    await clock.advance(9000)
    t.ok(two.elector.isLeader(), `killed after ${killedAtMs} ms`)
  }
})

t.test('leader election: a Lease that is renewed by a wrong clock is not taken over', async (t) => {
  const { state, api } = createLeaseApi()
  const clock = createHandClock()
  const { elector } = elect(api, clock, 'two')
  state.isAway = true
  for (let renewal = 0; renewal < 20; renewal += 1) {
    const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, leaseTransitions: 0, renewTime: `1999 ${renewal}` }
    state.lease = { metadata: { resourceVersion: `x${renewal}` }, spec }
    state.isAway = false
    await clock.advance(5000)
  }
  t.notOk(elector.isLeader())
})

t.test('leader election: a leader that cannot renew stops before another can begin', async (t) => {
  const { state, api } = createLeaseApi()
  const clock = createHandClock()
  const { elector, terms, calls } = elect(api, clock, 'one')
  await clock.advance(100)
  state.isAway = true
  await clock.advance(9800)
  t.ok(elector.isLeader())
  await clock.advance(200)
  t.notOk(elector.isLeader())
  t.ok(terms[0]?.signal.aborted)
  t.throws(() => terms[0]?.fence(), { code: 'SERVICE_UNAVAILABLE' })
  t.match(calls, ['began', 'failed'])
  state.isAway = false
  await clock.advance(3000)
  t.ok(elector.isLeader(), 'it leads again')
  t.equal(terms.length, 2)
  t.throws(() => terms[0]?.fence(), 'the old term stays ended')
  t.doesNotThrow(() => terms[1]?.fence())
})

t.test('leader election: an older state of its own Lease is waited for like that of another', async (t) => {
  const { state, api } = createLeaseApi()
  const clock = createHandClock()
  const { elector } = elect(api, clock, 'one')
  await clock.advance(5000)
  t.ok(elector.isLeader())
  const older = structuredClone(state.lease)
  await clock.advance(5000)
  state.isAway = true
  await clock.advance(12_000)
  t.notOk(elector.isLeader(), 'another may have led meanwhile')
  state.lease = older && { ...older, metadata: { resourceVersion: 'older' } }
  state.isAway = false
  await clock.advance(10_000)
  t.notOk(elector.isLeader())
  await clock.advance(10_000)
  t.ok(elector.isLeader())
})

t.test('leader election: after a freeze the fence is closed before anything else runs', async (t) => {
  const { api } = createLeaseApi()
  const clock = createHandClock()
  const { elector, terms } = elect(api, clock, 'one')
  await clock.advance(100)
  clock.freeze(60_000)
  t.notOk(elector.isLeader())
  t.throws(() => terms[0]?.fence(), { code: 'SERVICE_UNAVAILABLE' })
  t.notOk(terms[0]?.signal.aborted, 'no timer has fired')
})

t.test('leader election: a leader that finds another holder in its Lease stops immediately', async (t) => {
  const { state, api } = createLeaseApi()
  const clock = createHandClock()
  const { elector } = elect(api, clock, 'one')
  await clock.advance(100)
  const spec = { holderIdentity: 'two', leaseDurationSeconds: 15, renewTime: 'x', leaseTransitions: 1 }
  state.lease = { metadata: { resourceVersion: 'other' }, spec }
  await clock.advance(4100)
  t.notOk(elector.isLeader())
})

t.test('leader election: of two concurrent candidates one leads', async (t) => {
  /** The number of leaders after both candidates have read the same free Lease. */
  const leaders = async (comparesVersions: boolean) => {
    const { state, api } = createLeaseApi()
    const clock = createHandClock()
    state.comparesVersions = comparesVersions
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: 'x', leaseTransitions: 1 }
    state.lease = { metadata: { resourceVersion: 'free' }, spec }
    const both = [elect(api, clock, 'one'), elect(api, clock, 'two')]
    await clock.advance(1000)
    return both.filter(({ elector }) => elector.isLeader()).length
  }
  t.equal(await leaders(true), 1)
  t.equal(await leaders(false), 2, 'planted fault: a server that compares no versions')
})
