import t from 'tap'
import { type Children, createChildren } from '#controller/operator/apply/children.ts'
import { createRolloutTurns } from '#controller/operator/apply/rollout-turns.ts'
import { budgetFields, deploymentFields } from '#controller/operator/manifests/deployment.ts'
import { type ObservedDeployment, trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { Patch } from '#shared/kube/client.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { appliedAnnotation, fieldOwner, replicasOwner, workersName } from '#shared/kube/names.ts'
import type { KubeObject, Ref } from '#shared/kube/resource.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { deploymentObject, podSettings, poolObject } from '#test/helpers/kube-objects.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'

const owner = (manager: string, ...fields: readonly string[]) => ({
  manager,
  operation: 'Apply',
  fieldsV1: { 'f:spec': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) },
})

type Kind = 'deployments' | 'poddisruptionbudgets'
type Apply = Extract<Patch, { kind: 'apply' }>
type Body = { readonly spec: { readonly replicas?: number } }

/** An API server that holds one Deployment and one budget. */
const createServer = () => {
  const world = {
    pool: poolObject(),
    server: new Map<string, KubeObject>(),
    cached: new Map<string, KubeObject>(),
    /** Further pools with their Deployments. */
    others: new Map<BrowserPool, ObservedDeployment>(),
    hasSynced: true,
    /** Delays the response to an applied Deployment. */
    gate: Promise.resolve(),
    refusals: [] as (Outcome | undefined)[],
    asked: [] as string[],
    applied: [] as object[],
    version: 1,
  }
  const appliedHash = (kind: Kind) => {
    const fields =
      kind === 'deployments'
        ? deploymentFields(world.pool, podSettings)
        : budgetFields(world.pool, podSettings.instance)
    return fields.metadata?.annotations?.[appliedAnnotation] ?? ''
  }
  const answer = (kind: Kind, parts: Parameters<typeof deploymentObject>[1]) => {
    world.version += 1
    const version = String(world.version)
    const object = deploymentObject('web', { replicas: 3, version, applied: appliedHash(kind), ...parts })
    Object.assign(object.metadata!, { generation: world.version })
    world.server.set(kind, object)
    return object
  }
  const asks = (what: string, { resource }: Ref) => {
    world.asked.push(`${what} ${resource.plural}`)
    const outcome = world.refusals.shift()
    if (outcome) throw new KubeError(outcome, { message: `no ${what}` })
    return resource.plural as Kind
  }
  const wordOf = ({ body, force, fieldManager }: Apply) => {
    const { replicas } = (body as Body).spec
    const size = replicas === undefined ? '' : ` ${replicas} replicas`
    return `${force ? 'apply' : 'create or keep'}${size}${fieldManager === fieldOwner ? '' : ` as ${fieldManager}`}`
  }
  const api = asKubeApi({
    get: async (ref: Ref) => {
      const object = world.server.get(asks('get', ref))
      if (!object) throw new KubeError('not-found', { message: 'not there' })
      return object
    },
    patch: async (ref: Ref, patch: Patch) => {
      if (patch.kind !== 'apply') throw new Error('only applied')
      const kind = asks(wordOf(patch), ref)
      world.applied.push(patch.body)
      if (kind === 'deployments') await world.gate
      const sized = (patch.body as Body).spec.replicas !== undefined
      const isHandOver = patch.fieldManager === replicasOwner
      const ofRest = sized || isHandOver ? owner(fieldOwner, 'template', 'replicas') : owner(fieldOwner, 'template')
      const size = sized && !isHandOver ? [] : [owner(replicasOwner, 'replicas')]
      return answer(kind, { managedFields: [ofRest, ...size] })
    },
  })
  return { world, api, answer }
}

const setUp = () => {
  const clock = createHandClock()
  const { world, api, answer } = createServer()
  const created: number[] = []
  const cachedOf = (kind: Kind) => {
    const object = world.cached.get(kind)
    return object && trimDeployment(object)
  }
  const informers = {
    namespace: 'n',
    pools: () => [world.pool, ...world.others.keys()],
    deployment: (name: string) => {
      const [, other] = [...world.others].find(([pool]) => workersName(pool.metadata.name) === name) ?? []
      return other ?? cachedOf('deployments')
    },
    budget: () => cachedOf('poddisruptionbudgets'),
    hasSynced: () => world.hasSynced,
  }
  const turns = createRolloutTurns(clock, informers)
  const failures: string[] = []
  /** The children of a pool, as a new leader creates them. */
  const begin = () =>
    createChildren({
      api,
      clock,
      informers,
      turns,
      settings: podSettings,
      firstReplicas: () => 3,
      created: (replicas) => created.push(replicas),
      failed: ({ message }) => failures.push(message),
    })
  const children = begin()
  const run = async (of: Children = children) => {
    world.asked.length = 0
    await of.reconcile(world.pool)
    return { asked: [...world.asked], isPending: of.isPending(), problem: of.problem() }
  }
  /** Copies the server's objects into the cache. */
  const show = () => {
    world.cached = new Map(world.server)
  }
  return { clock, world, created, failures, children, begin, run, show, answer }
}

const first = [
  'get deployments',
  'create or keep 3 replicas deployments',
  `create or keep 3 replicas as ${replicasOwner} deployments`,
  'apply deployments',
  'get poddisruptionbudgets',
  'create or keep poddisruptionbudgets',
]
const again = ['apply deployments', 'apply poddisruptionbudgets']
const settled = { asked: [], isPending: false, problem: undefined }

t.test(
  'children: a missing Deployment is created with its first size, which another field manager then owns',
  async (t) => {
    const { run, created } = setUp()
    t.strictSame(await run(), { ...settled, asked: first })
    t.strictSame(created, [3])
  },
)

t.test('children: the size of a Deployment is handed over before the rest is applied without it', async (t) => {
  const { run, world, show, begin } = setUp()
  world.refusals = [undefined, undefined, 'unavailable']
  await run()
  show()
  t.strictSame((await run(begin())).asked.slice(0, 2), [
    `create or keep 3 replicas as ${replicasOwner} deployments`,
    'apply deployments',
  ])
  show()
  t.notOk((await run(begin())).asked.some((each) => each.includes('replicas')))
})

t.test('children: objects without drift are not written, whether or not the informer shows them', async (t) => {
  const { run, show } = setUp()
  await run()
  t.strictSame(await run(), settled)
  show()
  t.strictSame(await run(), settled)
})

t.test('children: objects without drift are applied again every ten minutes', async (t) => {
  const { run, show, clock } = setUp()
  await run()
  show()
  await clock.advance(599_999)
  t.strictSame((await run()).asked, [])
  await clock.advance(1)
  t.strictSame((await run()).asked, again)
})

t.test('children: one missing from the informer for ten seconds is created again', async (t) => {
  const { run, clock, world } = setUp()
  await run()
  world.server.clear()
  t.strictSame((await run()).asked, [])
  await clock.advance(10_000)
  t.strictSame((await run()).asked, first)
})

t.test('children: a change of the template is applied, a change of the bounds is not', async (t) => {
  const { run, show, world } = setUp()
  await run()
  show()
  world.pool = poolObject('web', { autoscaling: { maxReplicas: 9 } })
  t.strictSame((await run()).asked, [])
  world.pool = poolObject('web', { template: { image: 'other' } })
  t.strictSame((await run()).asked[0], 'apply deployments')
})

t.test('children: nothing is applied to a paused pool', async (t) => {
  const { run, world } = setUp()
  world.pool = poolObject('web', { paused: true })
  t.strictSame(await run(), settled)
})

t.test('children: a new leader applies them once', async (t) => {
  const { run, answer, show } = setUp()
  answer('deployments', {})
  answer('poddisruptionbudgets', {})
  show()
  t.strictSame((await run()).asked, again)
  show()
  t.strictSame((await run()).asked, [])
})

t.test('children: a change by another client is reverted', async (t) => {
  const { run, answer, show } = setUp()
  await run()
  show()
  answer('deployments', { spec: { template: { spec: {} } } })
  show()
  t.strictSame((await run()).asked, ['apply deployments'])
})

t.test('children: one missing from every informer is read, and adopted only if it belongs to the pool', async (t) => {
  const { run, answer } = setUp()
  answer('deployments', { labels: {} })
  t.strictSame((await run()).asked.slice(0, 2), ['get deployments', 'apply deployments'])
  const other = setUp()
  other.answer('deployments', { labels: {}, owner: null })
  t.match(await other.run(), { problem: /does not belong to this pool/ })
  const older = setUp()
  older.answer('deployments', { owner: 'uid-of-older' })
  older.show()
  t.match(await older.run(), { problem: /does not belong to this pool/ })
})

t.test('children: an object that loses its labels is applied even without another change', async (t) => {
  const { run, clock } = setUp()
  await run()
  await clock.advance(10_000)
  t.strictSame((await run()).asked.slice(0, 2), ['get deployments', 'apply deployments'])
})

t.test('children: one left without an owner by an older pool of that name is adopted', async (t) => {
  const { run, answer, show } = setUp()
  answer('deployments', { owner: null, applied: 'older' })
  show()
  t.ok((await run()).asked.includes('apply deployments'))
})

t.test('children: a terminating one is not written until it is gone', async (t) => {
  const { run, answer, show } = setUp()
  const going = answer('deployments', {})
  Object.assign(going.metadata!, { deletionTimestamp: '2026-01-01T00:00:00Z' })
  show()
  t.notOk((await run()).asked.some((each) => each.endsWith(' deployments')))
})

t.test('children: a refusal is a problem until the retry succeeds', async (t) => {
  const { run, world, clock, failures } = setUp()
  world.refusals = [undefined, 'invalid']
  t.match(await run(), { problem: /no create/, isPending: true })
  t.equal(failures.length, 1)
  t.strictSame((await run()).asked, [], 'it is not retried at once')
  world.pool = poolObject('web', {}, { metadata: { generation: 2 } })
  world.refusals = ['invalid']
  t.strictSame((await run()).asked, ['get deployments'], 'unless something else is desired')
  await clock.advance(1000)
  t.match(await run(), { problem: undefined, isPending: false })
})

t.test('children: another selector is a problem, with advice', async (t) => {
  const matchLabels = { 'app.kubernetes.io/instance': 'other', 'shutterfleet.dev/pool': 'web' }
  for (const selector of [{ matchLabels }, { matchExpressions: [{ key: 'a', operator: 'Exists' }] }]) {
    const { run, answer } = setUp()
    answer('deployments', { applied: 'older', spec: { selector } })
    t.match(await run(), {
      problem: /Set SHUTTERFLEET_INSTANCE back; or run kubectl delete deployment shutterfleet-web --cascade/,
    })
  }
})

t.test('children: changes by a release or by settings roll out pool by pool, changes by a user at once', async (t) => {
  const { run, answer, show, world } = setUp()
  const other = (status: object) => trimDeployment(deploymentObject('other', { status }))
  const rolling = { replicas: 3, updatedReplicas: 1 }
  const done = { replicas: 3, updatedReplicas: 3 }
  answer('deployments', { applied: 'older' })
  show()
  world.others.set(poolObject('other'), other(rolling))
  const held = await run()
  t.notOk(held.asked.includes('apply deployments'))
  t.ok(held.isPending)
  world.others.set([...world.others.keys()][0]!, other(done))
  world.hasSynced = false
  t.notOk((await run()).asked.includes('apply deployments'), 'the other pools are not listed yet')
  world.hasSynced = true
  t.ok((await run()).asked.includes('apply deployments'))

  show()
  world.others.set([...world.others.keys()][0]!, other(rolling))
  world.pool = poolObject('web', { template: { image: 'other' } })
  t.ok((await run()).asked.includes('apply deployments'))
})

t.test('children: no second rollout begins while the first is applied, or before the informer shows it', async (t) => {
  const { run, begin, answer, show, world } = setUp()
  const second = poolObject('second')
  answer('deployments', { applied: 'older' })
  show()
  world.others.set(second, trimDeployment(deploymentObject('second', { applied: 'older' })))
  const held = Promise.withResolvers<void>()
  world.gate = held.promise
  const firstRun = run()
  const appliesOf = () => world.asked.filter((each) => each === 'apply deployments').length
  await eventually(() => appliesOf() === 1)
  // The only budget of this server belongs to the first pool.
  const ofSecond = begin()
  await ofSecond.reconcile(second)
  t.equal(appliesOf(), 1, 'while it is applied')
  t.ok(ofSecond.isPending())
  held.resolve()
  await firstRun
  await ofSecond.reconcile(second)
  t.equal(appliesOf(), 1, 'while the cache is stale')
})

t.test('children: a change by a user is applied at once, even if the pool is waiting for its turn', async (t) => {
  const { run, answer, show, world } = setUp()
  answer('deployments', { applied: 'older' })
  show()
  const status = { replicas: 3, updatedReplicas: 1 }
  world.others.set(poolObject('other'), trimDeployment(deploymentObject('other', { status })))
  t.ok((await run()).isPending)
  world.pool = poolObject('web', { template: { image: 'mine' } })
  t.ok((await run()).asked.includes('apply deployments'))
})
