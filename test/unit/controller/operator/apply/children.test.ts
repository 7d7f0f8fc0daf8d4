import t from 'tap'
import { budgetFields, deploymentFields } from '#controller/operator/manifests/deployment.ts'
import {
  type ObservedChild,
  type ObservedDeployment,
  trimDeployment,
} from '#controller/operator/watch/observed-deployment.ts'
import { createChildReconciler, needsApply } from '#controller/operator/apply/children.ts'
import type { KubeApi, Patch } from '#shared/kube/client.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { appliedAnnotation, fieldOwner, poolLabels, replicasOwner, workersName } from '#shared/kube/names.ts'
import type { Collection, KubeObject, Ref } from '#shared/kube/resource.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { deploymentObject, podSettings, poolObject } from '#test/helpers/kube-objects.ts'

const noSignal = new AbortController().signal
const sizeOnly = { 'f:spec': { 'f:replicas': {} } }
const everything = { 'f:metadata': {}, 'f:spec': { 'f:template': {}, 'f:replicas': {} } }
const applied = { manager: fieldOwner, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:template': {} } } }

type Kind = 'deployments' | 'poddisruptionbudgets'

/** An API server that holds one Deployment and one budget. */
const createServer = () => {
  const world = {
    pool: poolObject(),
    server: new Map<string, KubeObject>(),
    cached: new Map<string, KubeObject>(),
    /** Further pools with their Deployments. */
    others: new Map<BrowserPool, ObservedDeployment>(),
    hasSynced: true,
    /** For which the server waits with a Deployment that is applied. */
    gate: Promise.resolve(),
    refusals: [] as (Outcome | undefined)[],
    asked: [] as string[],
    applied: [] as object[],
    version: 1,
  }
  const hashOf = (kind: Kind) => {
    const fields =
      kind === 'deployments'
        ? deploymentFields(world.pool, podSettings)
        : budgetFields(world.pool, podSettings.instance)
    return fields.metadata?.annotations?.[appliedAnnotation] ?? ''
  }
  const answer = (kind: Kind, parts: Parameters<typeof deploymentObject>[1]) => {
    world.version += 1
    const version = String(world.version)
    const object = deploymentObject('web', { replicas: 3, version, applied: hashOf(kind), ...parts })
    world.server.set(kind, object)
    return object
  }
  const asks = (what: string, { resource }: Collection) => {
    world.asked.push(`${what} ${resource.plural}`)
    const outcome = world.refusals.shift()
    if (outcome) throw new KubeError(outcome, { message: `no ${what}` })
    return resource.plural as Kind
  }
  const api = {
    create: async (of: Collection, _object: object, { fieldManager }: { fieldManager: string }) => {
      const kind = asks(`create as ${fieldManager}`, of)
      if (world.server.has(kind)) throw new KubeError('already-exists', { message: 'there' })
      return answer(kind, { managedFields: [{ manager: fieldManager, operation: 'Update', fieldsV1: everything }] })
    },
    get: async (ref: Ref) => world.server.get(asks('get', ref)),
    patch: async (ref: Ref, patch: Patch) => {
      const kind = asks(patch.kind, ref)
      if (patch.kind === 'apply') world.applied.push(patch.body)
      if (kind === 'deployments') await world.gate
      const fieldsV1 = patch.kind === 'json' ? sizeOnly : everything
      const managedFields = [{ manager: replicasOwner, operation: 'Update', fieldsV1 }, applied]
      const object = answer(kind, { managedFields })
      // Which the Deployment controller has not observed.
      return { ...object, metadata: { ...object.metadata, generation: world.version } }
    },
  } as unknown as Pick<KubeApi, 'create' | 'patch' | 'get'>
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
  const { apply, keep } = createChildReconciler({
    api,
    clock,
    informers: {
      namespace: 'n',
      pools: () => [world.pool, ...world.others.keys()],
      deployment: (name) => {
        const [, other] = [...world.others].find(([pool]) => workersName(pool.metadata.name) === name) ?? []
        return other ?? cachedOf('deployments')
      },
      budget: () => cachedOf('poddisruptionbudgets'),
      hasSynced: () => world.hasSynced,
    },
    settings: podSettings,
    firstReplicas: () => 3,
    created: (_pool, replicas) => created.push(replicas),
  })
  const run = async () => {
    world.asked.length = 0
    const againMs = await apply(world.pool, noSignal)
    return { asked: [...world.asked], againMs }
  }
  /** Lets the cache show what the server has. */
  const show = () => {
    world.cached = new Map(world.server)
  }
  return { clock, world, created, run, apply, show, answer, keep }
}

const first = [
  `create as ${replicasOwner} deployments`,
  'apply deployments',
  'json deployments',
  `create as ${fieldOwner} poddisruptionbudgets`,
]

t.test(
  'child reconciler: a missing child is created with its first size, applied, and its managed fields reduced',
  async (t) => {
    const { run, created } = setUp()
    t.strictSame(await run(), { asked: first, againMs: 10_000 })
    t.strictSame(created, [3])
  },
)

t.test(
  'child reconciler: a child without drift is not written, whether the informer shows it or not yet',
  async (t) => {
    const { run, show } = setUp()
    await run()
    t.strictSame(await run(), { asked: [], againMs: undefined })
    show()
    t.strictSame(await run(), { asked: [], againMs: undefined })
  },
)

t.test('child reconciler: a child that the informer does not show in ten seconds is created again', async (t) => {
  const { run, clock, world } = setUp()
  await run()
  world.server.clear()
  t.strictSame((await run()).asked, [])
  await clock.advance(10_000)
  t.strictSame((await run()).asked, first)
})

t.test('child reconciler: a change of the template is applied, a change of the bounds is not', async (t) => {
  const { run, show, world } = setUp()
  await run()
  show()
  world.pool = poolObject('web', { autoscaling: { maxReplicas: 9 } })
  t.strictSame((await run()).asked, [])
  world.pool = poolObject('web', { template: { image: 'other' } })
  t.strictSame((await run()).asked[0], 'apply deployments')
})

t.test('child reconciler: managed fields of a Deployment that changes meanwhile are reduced later', async (t) => {
  const { run, show, world } = setUp()
  world.refusals = [undefined, undefined, 'conflict']
  await run()
  show()
  t.strictSame((await run()).asked, ['json deployments'])
})

t.test('child reconciler: after a change of the leader, a child without drift is not written', async (t) => {
  const { run, answer, show } = setUp()
  answer('deployments', {})
  show()
  t.strictSame((await run()).asked, [`create as ${fieldOwner} poddisruptionbudgets`])
})

t.test('child reconciler: a foreign change is reverted, also where no manager owns it', async (t) => {
  const { run, answer, show } = setUp()
  answer('deployments', {})
  show()
  await run()
  answer('deployments', { spec: { template: { spec: {} } } })
  show()
  t.strictSame((await run()).asked.slice(0, 1), ['apply deployments'])
})

t.test('child reconciler: the state of a pool is kept as long as the pool', async (t) => {
  const { run, answer, show, keep } = setUp()
  const isTakenBack = async (kept: string) => {
    answer('deployments', {})
    show()
    await run()
    keep(new Set([kept]))
    answer('deployments', { spec: { template: { spec: {} } } })
    show()
    return (await run()).asked.includes('apply deployments')
  }
  t.ok(await isTakenBack('uid-web'))
  t.notOk(await isTakenBack('uid-other'))
})

t.test("child reconciler: a child in no informer is read, and adopted only where it is the pool's", async (t) => {
  const { run, answer } = setUp()
  answer('deployments', { labels: {} })
  t.strictSame((await run()).asked.slice(0, 3), [
    `create as ${replicasOwner} deployments`,
    'get deployments',
    'apply deployments',
  ])
  const other = setUp()
  other.answer('deployments', { labels: {}, owner: null })
  await t.rejects(other.run(), /does not belong to this pool/)
  const older = setUp()
  older.answer('deployments', { owner: 'uid-of-older' })
  older.show()
  await t.rejects(older.run(), /does not belong to this pool/)
})

t.test('child reconciler: a child that an older pool of that name left without an owner is adopted', async (t) => {
  const { run, answer, show } = setUp()
  answer('deployments', { owner: null, applied: 'older' })
  show()
  t.ok((await run()).asked.includes('apply deployments'))
})

t.test('child reconciler: a terminating child is waited for', async (t) => {
  const { run, answer, show } = setUp()
  const going = answer('deployments', {})
  Object.assign(going.metadata!, { deletionTimestamp: '2026-01-01T00:00:00Z' })
  show()
  t.notOk((await run()).asked.some((each) => each.endsWith('deployments')))
})

t.test('child reconciler: a refusal is thrown', async (t) => {
  const { run, world } = setUp()
  world.refusals = ['invalid']
  await t.rejects(run(), /no create/)
})

t.test('child reconciler: a selector of an older release is kept, since it still matches', async (t) => {
  const { 'app.kubernetes.io/instance': _, ...matchLabels } = poolLabels('shutterfleet', 'web')
  const { run, answer, world } = setUp()
  answer('deployments', { labels: matchLabels, applied: 'older', spec: { selector: { matchLabels } } })
  t.ok((await run()).asked.includes('apply deployments'))
  t.match(world.applied[0], { spec: { selector: { matchLabels } } })
  t.match(world.applied[0], { spec: { template: { metadata: { labels: poolLabels('shutterfleet', 'web') } } } })
})

t.test('child reconciler: a selector that would not match is refused, with what to do', async (t) => {
  const matchLabels = { 'app.kubernetes.io/instance': 'other', 'shutterfleet.dev/pool': 'web' }
  for (const selector of [{ matchLabels }, { matchExpressions: [{ key: 'a', operator: 'Exists' }] }]) {
    const { run, answer } = setUp()
    answer('deployments', { applied: 'older', spec: { selector } })
    await t.rejects(
      run(),
      /Set SHUTTERFLEET_INSTANCE back; or run kubectl delete deployment shutterfleet-web --cascade/,
    )
  }
})

t.test(
  'child reconciler: what another release or other settings change is rolled out pool by pool, what a user changes at once',
  async (t) => {
    const { run, answer, show, world } = setUp()
    const other = (status: object) => trimDeployment(deploymentObject('other', { status }))
    const rolling = { replicas: 3, updatedReplicas: 1 }
    const done = { replicas: 3, updatedReplicas: 3 }
    answer('deployments', { applied: 'older' })
    show()
    world.others.set(poolObject('other'), other(rolling))
    const held = await run()
    t.notOk(held.asked.includes('apply deployments'))
    t.equal(held.againMs, 5000)
    world.others.set([...world.others.keys()][0]!, other(done))
    world.hasSynced = false
    t.notOk((await run()).asked.includes('apply deployments'), 'others are not known yet')
    world.hasSynced = true
    t.ok((await run()).asked.includes('apply deployments'))

    show()
    world.others.set([...world.others.keys()][0]!, other(rolling))
    world.pool = poolObject('web', { template: { image: 'other' } })
    t.ok((await run()).asked.includes('apply deployments'))
  },
)

t.test(
  'child reconciler: no second pool begins while the first is applied, or before the informer shows it',
  async (t) => {
    const { run, apply, answer, show, world } = setUp()
    const second = poolObject('second')
    answer('deployments', { applied: 'older' })
    show()
    world.others.set(second, trimDeployment(deploymentObject('second', { applied: 'older' })))
    const held = Promise.withResolvers<void>()
    world.gate = held.promise
    const firstRun = run()
    const appliesOf = () => world.asked.filter((each) => each === 'apply deployments').length
    await eventually(() => appliesOf() === 1)
    // The one budget of this server is that of the first pool.
    const shapeSecond = () => apply(second, noSignal).catch(() => {})
    void shapeSecond()
    await eventually(() => world.asked.includes(`create as ${fieldOwner} poddisruptionbudgets`) || appliesOf() > 1)
    t.equal(appliesOf(), 1, 'while it is applied')
    held.resolve()
    await firstRun.catch(() => {})
    await shapeSecond()
    t.equal(appliesOf(), 1, 'while the cache is older')
  },
)

t.test(
  'child reconciler: what a user changes while a pool waits for its turn is applied at once, and forgotten with the pool',
  async (t) => {
    const { run, answer, show, world, keep } = setUp()
    answer('deployments', { applied: 'older' })
    show()
    const status = { replicas: 3, updatedReplicas: 1 }
    world.others.set(poolObject('other'), trimDeployment(deploymentObject('other', { status })))
    t.equal((await run()).againMs, 5000)
    world.pool = poolObject('web', { template: { image: 'other' } })
    keep(new Set())
    t.equal((await run()).againMs, 5000, 'another pool')
    world.pool = poolObject('web', { template: { image: 'mine' } })
    t.ok((await run()).asked.includes('apply deployments'))
  },
)

const desired = deploymentFields(poolObject(), podSettings)
const desiredHash = desired.metadata?.annotations?.[appliedAnnotation] ?? ''
const observed = (
  more: Partial<ObservedChild> = {},
  labels: Readonly<Record<string, string>> = poolLabels('shutterfleet', 'web'),
): ObservedChild => ({
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', labels },
  applied: desiredHash,
  specHash: 'after',
  hasForeignSpec: false,
  ...more,
})

t.test('child reconciler: an object as after the last apply has none', async (t) => {
  t.notOk(needsApply(observed(), desired, 'after'))
  t.notOk(needsApply(observed({ hasForeignSpec: true }), desired, 'after'), 'what others added then is known')
})

t.test('child reconciler: another desired state, a lost label and a foreign change are drift', async (t) => {
  t.ok(needsApply(observed({ applied: 'other' }), desired, 'after'))
  t.ok(needsApply(observed({}, {}), desired, 'after'))
  t.ok(needsApply(observed({ specHash: 'edited' }), desired, 'after'))
  const { applied: _, ...unowned } = observed()
  t.ok(needsApply(unowned, desired, 'after'))
})

t.test('child reconciler: after a change of the leader, only foreign fields are drift', async (t) => {
  t.notOk(needsApply(observed(), desired, undefined))
  t.ok(needsApply(observed({ hasForeignSpec: true }), desired, undefined))
})
