import t from 'tap'
import { jobNameLabel, jobs } from '#controller/operator/watch/observed-job.ts'
import { budgets, deployments } from '#controller/operator/watch/observed-deployment.ts'
import { autoscalers } from '#controller/operator/watch/observed-autoscaler.ts'
import { pods } from '#controller/operator/watch/observed-pod.ts'
import { type Informers, openInformers } from '#controller/operator/watch/informers.ts'
import { browserPools } from '#shared/kube/browser-pool.ts'
import type { Collection, KubeObject } from '#shared/kube/resource.ts'
import { cleanTemplate, droppedTemplate, fullSpec } from '#test/fixtures/browser-pools.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { deploymentObject, podObject, poolObject } from '#test/helpers/kube-objects.ts'
import { createScriptedApi, type ScriptedApi } from '#test/helpers/scripted-api.ts'

/** A watch over an API in which each kind has its own script. */
const setUp = (jobsNamespace = 'n') => {
  const clock = createHandClock()
  const kinds = new Map<string, ScriptedApi>()
  const scriptOf = ({ resource, namespace }: Collection) => {
    const key = `${namespace}/${resource.plural}`
    if (!kinds.has(key)) kinds.set(key, createScriptedApi())
    return kinds.get(key)!
  }
  const api: ScriptedApi['api'] = {
    list: (of, ...rest) => scriptOf(of).api.list(of, ...rest),
    watch: (of, ...rest) => scriptOf(of).api.watch(of, ...rest),
  }
  const kindOf = (resource: Collection['resource'], namespace = 'n') => scriptOf({ resource, namespace })
  const fill = (resource: Collection['resource'], items: readonly KubeObject[] = [], namespace = 'n') =>
    kindOf(resource, namespace).lists.push(() => ({ items, resourceVersion: '10' }))
  const begin = () => {
    const podChanges: string[] = []
    const informers = openInformers(
      {
        api,
        clock,
        random: () => 0,
        eventsOf: () => ({ listed: () => {}, ended: () => {} }),
        podChanged: ({ kind, object }) => podChanges.push(`${kind} ${object.metadata.name}`),
      },
      { instance: 'one', pools: 'n', jobs: jobsNamespace },
    )
    t.teardown(() => informers[Symbol.asyncDispose]())
    return { informers, podChanges }
  }
  return { clock, kinds, kindOf, fill, begin }
}

const fillAll = ({ fill }: Pick<ReturnType<typeof setUp>, 'fill'>, sizing: readonly KubeObject[] = []) => {
  fill(browserPools, [poolObject('web'), poolObject('Odd_Name')])
  fill(deployments, [deploymentObject('web')])
  fill(budgets, [deploymentObject('web')])
  const ofJob = podObject('of-job')
  const labels = { ...ofJob.metadata.labels, [jobNameLabel]: 'job' }
  const served = { ...ofJob, metadata: { ...ofJob.metadata, labels } }
  fill(pods, [podObject('a'), podObject('b'), podObject('c', { pool: 'other' }), served])
  fill(jobs)
  fill(autoscalers, [...sizing])
}

const poolNamed = ({ pools }: Pick<Informers, 'pools'>, name: string) =>
  pools().find(({ metadata }) => metadata.name === name)

t.test('informers: objects are found by the name or the label of their pool', async (t) => {
  const world = setUp()
  fillAll(world)
  const { informers } = world.begin()
  t.notOk(informers.hasSynced())
  await world.clock.advance(0)
  t.ok(informers.hasSynced())
  t.equal(poolNamed(informers, 'web')?.metadata.uid, 'uid-web')
  t.match(informers.deployment('shutterfleet-web'), { owner: 'uid-web', replicas: 2 })
  t.match(informers.budget('shutterfleet-web'), { owner: 'uid-web' })
  t.strictSame(
    informers.podsOf('web').map(({ metadata }) => metadata.name),
    ['a', 'b'],
    'a Job of an older pool of the same name is not included',
  )
  t.strictSame(informers.podsOf('nothing'), [])
  t.strictSame(['a', 'c', 'd'].map(informers.hasPod), [true, true, false])
})

t.test('informers: drops fields of pods that a CustomResourceDefinition of another release lets through', async (t) => {
  const world = setUp()
  fillAll(world)
  world.kindOf(browserPools).lists.length = 0
  const pools = [poolObject('odd', { template: droppedTemplate as object }), poolObject('full', fullSpec)]
  world.fill(browserPools, pools)
  const { informers } = world.begin()
  await world.clock.advance(0)
  t.strictSame(poolNamed(informers, 'odd')?.spec.template, cleanTemplate)
  t.strictSame(poolNamed(informers, 'full')?.spec, fullSpec)
})

t.test('informers: fills in defaults that an older CustomResourceDefinition lacks', async (t) => {
  const world = setUp()
  fillAll(world)
  const { metadata } = poolObject('older')
  world.kindOf(browserPools).lists.length = 0
  world.fill(browserPools, [{ metadata, spec: { pool: 'standard', autoscaling: { minReplicas: 2 } } } as KubeObject])
  const { informers } = world.begin()
  await world.clock.advance(0)
  t.strictSame(poolNamed(informers, 'older')?.spec, poolObject('older', { autoscaling: { minReplicas: 2 } }).spec)
})

t.test("informers: list only the controller's objects, and all BrowserPools", async (t) => {
  const world = setUp()
  fillAll(world)
  world.begin()
  await world.clock.advance(0)
  const selector = {
    labelSelector: 'app.kubernetes.io/managed-by=shutterfleet-controller,app.kubernetes.io/instance=one',
  }
  for (const resource of [deployments, budgets, pods, jobs]) t.match(world.kindOf(resource).listCalls, [selector])
  t.notMatch(world.kindOf(browserPools).listCalls, [selector])
})

const autoscaler = (name: string, kind: string, target: string): KubeObject => ({
  metadata: { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: '10' },
  ...{ spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind, name: target } } },
})

t.test('informers: autoscalers are found by the Deployment that they size', async (t) => {
  const world = setUp()
  const web = 'shutterfleet-web'
  fillAll(world, [autoscaler('cpu', 'Deployment', web), autoscaler('pool', 'BrowserPool', web)])
  const { informers } = world.begin()
  await world.clock.advance(0)
  t.strictSame(informers.autoscalersOf(web), ['cpu'])
  t.strictSame(informers.autoscalersOf('shutterfleet-other'), [])
  t.notMatch(world.kindOf(autoscalers).listCalls, [{ labelSelector: /./ }], "they are the user's")
})

t.test('informers: a listener gets the kind and the pool of each change', async (t) => {
  const world = setUp()
  fillAll(world)
  const { informers, podChanges } = world.begin()
  await world.clock.advance(0)
  const changes: string[] = []
  const following = informers.onChange((label, what) => changes.push(`${what} ${label}`))
  const send = async (resource: Collection['resource'], object: KubeObject) => {
    world.kindOf(resource).watches.at(-1)?.send({ type: 'MODIFIED', object })
    await world.clock.advance(0)
  }
  await send(browserPools, poolObject('web', {}, { metadata: { resourceVersion: '20' } }))
  await send(deployments, deploymentObject('web', { version: '21' }))
  await send(budgets, deploymentObject('web', { version: '22' }))
  await send(pods, podObject('a', { version: '23' }))
  await send(pods, podObject('d', { version: '24' }))
  t.strictSame(changes, ['pool web', 'child web', 'child web', 'pod web', 'pod web'])
  t.strictSame(podChanges.slice(-2), ['updated a', 'added d'])
  t.equal(informers.podsOf('web').length, 3, 'a change is visible at once')
  following[Symbol.dispose]()
  await send(pods, podObject('a', { version: '25' }))
  t.equal(changes.length, 5)
})

t.test(
  'informers: a kind that was never listed, or has had no watch for more than five seconds, is stale',
  async (t) => {
    const world = setUp()
    fillAll(world)
    const { informers } = world.begin()
    t.throws(() => informers.assertFresh())
    await world.clock.advance(0)
    t.doesNotThrow(() => informers.assertFresh())
    const away = world.kindOf(pods)
    away.watches.at(-1)?.fail(new Error('reset'))
    const failing = () => {
      throw new Error('away')
    }
    away.lists.push(failing, failing, failing, failing)
    Object.assign(away.api, {
      watch: async function* () {
        yield* []
        failing()
      },
    })
    await world.clock.advance(5000)
    t.doesNotThrow(() => informers.assertFresh())
    await world.clock.advance(1)
    t.throws(() => informers.assertFresh(), { code: 'SERVICE_UNAVAILABLE' })
  },
)

t.test('informers: Jobs and their pods may be in another namespace', async (t) => {
  const world = setUp('elsewhere')
  fillAll(world)
  world.fill(jobs, [], 'elsewhere')
  world.fill(pods, [podObject('job-pod')], 'elsewhere')
  const { informers } = world.begin()
  await world.clock.advance(0)
  t.strictSame(
    informers.jobPods.all().map(({ metadata }) => metadata.name),
    ['job-pod'],
  )
  t.equal(informers.podsOf('web').length, 2)
})
