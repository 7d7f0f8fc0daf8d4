import t from 'tap'
import { createDeploymentActuator, type DeploymentWrite } from '#controller/operator/scale/deployment-actuator.ts'
import { trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import type { ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Deletion, Patch } from '#shared/kube/client.ts'
import { KubeError } from '#shared/kube/kube-error.ts'
import { deletionCostAnnotation } from '#shared/kube/names.ts'
import type { Ref } from '#shared/kube/resource.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { type DeploymentParts, deploymentObject, podObject, type PodParts } from '#test/helpers/kube-objects.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'

const stuck = 'stuck'
const lowest = { [deletionCostAnnotation]: '-2147483647' }

const setUp = (parts: DeploymentParts | undefined = {}, pods: ObservedPod[] = []) => {
  const clock = createHandClock()
  const writes: string[] = []
  const written: DeploymentWrite[] = []
  const world = {
    deployment: trimDeployment(deploymentObject('web', parts)) as ReturnType<typeof trimDeployment> | undefined,
    pods,
    isKnown: true,
    gone: new Set<string>(),
    version: 100,
    hasChanged: false,
    isAway: false,
    isRolloutStalled: false,
  }
  const api = asKubeApi({
    patch: async (ref: Ref, { body }: Patch) => {
      if (world.gone.has(ref.name)) throw new KubeError('not-found', { message: 'gone' })
      if (world.isAway) throw new KubeError('unavailable', { message: 'away' })
      if (world.hasChanged) throw new KubeError('conflict', { message: 'the object has been modified' })
      writes.push(`${ref.name}${ref.subresource ? `/${ref.subresource}` : ''} ${JSON.stringify(body)}`)
      world.version += 1
      return { metadata: { resourceVersion: String(world.version) } }
    },
    remove: async (ref: Ref, { uid }: Deletion = {}) => {
      if (world.gone.has(ref.name)) throw new KubeError('conflict', { message: 'another uid' })
      writes.push(`delete ${ref.name} ${uid}`)
    },
  })
  const actuator = createDeploymentActuator(
    {
      api,
      clock,
      informers: {
        namespace: 'n',
        deployment: () => world.deployment,
        podsOf: () => world.pods,
        assertFresh: () => {
          if (!world.isKnown) throw new AppError('SERVICE_UNAVAILABLE')
        },
      },
      podStarts: {
        ageMs: () => 1000,
        troubleOf: ({ metadata }) =>
          world.isRolloutStalled && metadata.name === stuck ? { trouble: 'image-pull', message: '' } : undefined,
        wasReady: ({ metadata }) => metadata.name !== stuck,
        startsOf: () => ({ starts: { ready: 0, failed: 0 }, startMs: undefined, provisionMs: undefined }),
      },
      onWrite: (write) => written.push(write),
    },
    'web',
  )
  /** Makes the cache show the Deployment as it is now. */
  const show = (of: DeploymentParts) => {
    world.deployment = trimDeployment(deploymentObject('web', { version: String(world.version), ...of }))
  }
  return { clock, world, writes, written, actuator, show }
}

const pods = (count: number, parts: PodParts = {}) =>
  Array.from({ length: count }, (_, index) => podObject(`p${index}`, parts))
const scaled = (replicas: number, version = '1') =>
  `shutterfleet-web/scale {"metadata":{"resourceVersion":"${version}"},"spec":{"replicas":${replicas}}}`
/** A pod marked for deletion that takes no more work. */
const marked = (name: string) => podObject(name, { phase: 'Running', ready: false, annotations: lowest })

t.test('Deployment actuator: start sets the size once, and never reduces it', async (t) => {
  const { actuator, writes, written } = setUp({ replicas: 2 })
  await actuator.start(5)
  await actuator.start(5)
  await actuator.start(3)
  t.strictSame(writes, [scaled(5)])
  t.strictSame(written, [{ kind: 'scaled', from: 2, to: 5 }])
})

t.test('Deployment actuator: start does nothing while the Deployment is being created', async (t) => {
  const { actuator, world, writes } = setUp()
  world.deployment = undefined
  await actuator.start(5)
  t.strictSame(writes, [])
})

t.test('Deployment actuator: a written size counts before the informer shows it, for ten seconds', async (t) => {
  const { actuator, clock, writes } = setUp({ replicas: 2 })
  await actuator.start(5)
  await clock.advance(9000)
  await actuator.start(5)
  t.equal(writes.length, 1)
  await clock.advance(1000)
  await actuator.start(5)
  t.equal(writes.length, 2)
})

t.test('Deployment actuator: on a version conflict no size is written, and no pod counts as terminating', async (t) => {
  const { actuator, world, written } = setUp({ replicas: 2 }, [podObject('p0'), marked('p1')])
  world.hasChanged = true
  await actuator.start(5)
  await actuator.stop(['p1'])
  t.strictSame(written, [])
  t.notOk((await actuator.list()).workers.some(({ stopping }) => stopping))
})

t.test('Deployment actuator: pods count as terminating if the outcome of the write is unknown', async (t) => {
  const { actuator, world } = setUp({ replicas: 2 }, [podObject('p0'), marked('p1')])
  world.isAway = true
  await t.rejects(actuator.stop(['p1']))
  t.strictSame(
    (await actuator.list()).workers.map(({ stopping }) => stopping),
    [false, true],
  )
})

t.test(
  'Deployment actuator: a write carries the version of the last write if the informer does not show it yet',
  async (t) => {
    const { actuator, writes } = setUp({ replicas: 2 })
    await actuator.start(5)
    await actuator.start(6)
    t.strictSame(writes, [scaled(5), scaled(6, '101')])
  },
)

t.test(
  'Deployment actuator: the size is not reduced while the ReplicaSet might delete a serving pod first',
  async (t) => {
    const { actuator, world, writes } = setUp({ replicas: 2 }, [
      podObject('p0', { phase: 'Unknown', ready: false }),
      marked('p1'),
    ])
    await actuator.stop(['p1'])
    t.strictSame(writes, [])
    world.pods = [podObject('p0'), marked('p1')]
    await actuator.stop(['p1'])
    t.strictSame(writes, [scaled(1)])
  },
)

t.test(
  'Deployment actuator: a pod that has not started, which a ReplicaSet deletes first, counts as terminating',
  async (t) => {
    for (const parts of [{ phase: 'Pending' }, { unschedulable: 'no room' }]) {
      const coming = podObject('p0', { ...parts, ready: false })
      const { actuator, writes } = setUp({ replicas: 3 }, [coming, marked('p1'), podObject('p2')])
      await actuator.stop(['p1'])
      t.strictSame(writes, [scaled(2)])
      t.strictSame(
        (await actuator.list()).workers.flatMap(({ pod, stopping }) => (stopping ? [pod] : [])),
        ['p0'],
      )
    }
  },
)

t.test('Deployment actuator: the pods of a stalled rollout do not count for the reduced size', async (t) => {
  const rolling = { replicas: 3, status: { replicas: 4, updatedReplicas: 1 } }
  const broken = podObject(stuck, { ready: false, phase: 'Pending' })
  const { actuator, writes, world } = setUp(rolling, [podObject('p0'), marked('p1'), podObject('p2'), broken])
  world.isRolloutStalled = true
  await actuator.stop(['p1'])
  t.strictSame(writes, [scaled(2)])
  t.strictSame(
    (await actuator.list()).workers.flatMap(({ pod, stopping }) => (stopping ? [pod] : [])),
    ['p1'],
  )
})

t.test(
  'Deployment actuator: a pod is not removed while it looks ready, since others may become unready meanwhile',
  async (t) => {
    for (const ready of [true, false]) {
      const busy = podObject('p0', { phase: 'Running', ready })
      const { actuator, world, writes } = setUp({ replicas: 2 }, [busy, podObject('p1', { annotations: lowest })])
      await actuator.stop(['p1'])
      t.strictSame(writes, [], `beside one whose readiness is ${ready}`)
      world.pods = [busy, marked('p1')]
      await actuator.stop(['p1'])
      t.strictSame(writes, [scaled(1)])
    }
  },
)

t.test('Deployment actuator: list throws if an informer is stale', async (t) => {
  const { actuator, world } = setUp({}, pods(2))
  t.equal((await actuator.list()).workers.length, 2)
  world.isKnown = false
  await t.rejects(actuator.list())
})

t.test('Deployment actuator: stop marks first, and reduces the size once the informer shows the marks', async (t) => {
  const { actuator, world, writes, written } = setUp({ replicas: 3 }, pods(3))
  await actuator.stop(['p1'])
  t.strictSame(writes, [`p1 {"metadata":{"annotations":${JSON.stringify(lowest)}}}`])
  world.pods = [podObject('p0'), marked('p1'), podObject('p2')]
  await actuator.stop(['p1'])
  t.equal(writes[1], scaled(2))
  t.strictSame(written, [{ kind: 'scaled', from: 3, to: 2 }])
})

t.test('Deployment actuator: a repeated stop of the same pods stops them once', async (t) => {
  const { actuator, writes, show, clock } = setUp({ replicas: 3 }, [podObject('p0'), podObject('p2'), marked('p1')])
  await actuator.stop(['p1'])
  await actuator.stop(['p1'])
  show({ replicas: 2, status: { replicas: 3 } })
  await actuator.stop(['p1'])
  // Longer than any memory: the pod still exists, as without a ReplicaSet controller.
  await clock.advance(60_000)
  await actuator.stop(['p1'])
  t.strictSame(writes, [scaled(2)])
})

t.test('Deployment actuator: stopped pods are listed as stopping for ten seconds', async (t) => {
  const { actuator, clock } = setUp({ replicas: 2 }, [podObject('p0'), marked('p1')])
  const stopping = async () => (await actuator.list()).workers.filter((each) => each.stopping).map(({ pod }) => pod)
  t.strictSame(await stopping(), [])
  await actuator.stop(['p1'])
  t.strictSame(await stopping(), ['p1'])
  await clock.advance(10_001)
  t.strictSame(await stopping(), [])
})

t.test(
  "Deployment actuator: nothing is removed while the Deployment's count differs from the informer's pods",
  async (t) => {
    const { actuator, writes, show } = setUp({ replicas: 3, status: { replicas: 3 } }, [podObject('p0'), marked('p1')])
    await actuator.stop(['p1'])
    t.strictSame(writes, [])
    show({ replicas: 3, status: { replicas: 2 } })
    await actuator.stop(['p1'])
    t.strictSame(writes, [scaled(1, '100')])
  },
)

t.test('Deployment actuator: nothing is removed before the informer shows the last write', async (t) => {
  const { actuator, writes } = setUp({ replicas: 2 }, [podObject('p0'), marked('p1')])
  await actuator.start(3)
  await actuator.stop(['p1'])
  t.strictSame(writes, [scaled(3)])
})

t.test('Deployment actuator: stop withdraws refused pods, even if no pod is named', async (t) => {
  const { actuator, writes } = setUp({ replicas: 5, status: { replicas: 2 } }, pods(2))
  await actuator.stop([])
  t.strictSame(writes, [scaled(2)])
})

t.test('Deployment actuator: stop deletes idle surplus pods during a rollout, and no others', async (t) => {
  const going = [marked('p1'), podObject(stuck, { ready: false, annotations: lowest })]
  const rolling = { replicas: 2, status: { replicas: 4, updatedReplicas: 2 } }
  const { actuator, writes } = setUp(rolling, [podObject('p0'), podObject('p2'), ...going])
  await actuator.stop(['p1', stuck])
  t.strictSame(writes, ['delete p1 uid-p1'])
})

t.test('Deployment actuator: replace deletes exactly the named pods, and keeps the size', async (t) => {
  const { actuator, writes, written, world } = setUp({ replicas: 3 }, pods(3))
  world.gone.add('p2')
  await actuator.replace(['p0', 'p2', 'unknown'])
  await actuator.replace(['p0'])
  t.strictSame(writes, ['delete p0 uid-p0'])
  t.strictSame(written, [{ kind: 'deleted', pod: 'p0' }])
})

t.test('Deployment actuator: nothing is removed before an obsolete mark of another pod is', async (t) => {
  const { actuator, writes } = setUp({ replicas: 3 }, [podObject('p0'), marked('p1'), marked('p2')])
  await actuator.stop(['p1'])
  t.strictSame(writes, [`p2 {"metadata":{"annotations":{"${deletionCostAnnotation}":null}}}`])
})

t.test('Deployment actuator: keep removes existing marks', async (t) => {
  const { actuator, writes } = setUp({ replicas: 2 }, [podObject('p0'), marked('p1')])
  await actuator.keep(['p0', 'p1'])
  t.strictSame(writes, [`p1 {"metadata":{"annotations":{"${deletionCostAnnotation}":null}}}`])
})

t.test('Deployment actuator: missing pods are no error', async (t) => {
  const { actuator, world } = setUp({ replicas: 2 }, [podObject('p0'), marked('p1')])
  world.gone = new Set(['p0', 'p1'])
  await t.resolves(actuator.stop(['p0']))
  await t.resolves(actuator.keep(['p1']))
})
