import t from 'tap'
import { poolLabels } from '#shared/kube/names.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { type HeartbeatMessage, heartbeatCodec } from '#shared/queue/messages.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { heartbeatFilter } from '#shared/queue/subjects.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { type Fault, startFleet } from '#test/helpers/cluster-fleet.ts'
import { startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { PodObject } from '#test/helpers/worker-pod-object.ts'

const cluster = await startCluster(t, { kwokSimulatesWorkers: false })
const queue = await startClusterQueue()
let serviceMs = 50
/** Faults of pods to be created, by the label `app`. */
const plannedFaults = new Map<string, Fault>()
const fleet = await startFleet({
  cluster,
  queue,
  serviceMs: () => serviceMs,
  faultOf: (pod) => plannedFaults.get(pod.metadata.labels?.['app'] ?? ''),
  restartMs: 300,
})
t.teardown(async () => {
  await fleet[Symbol.asyncDispose]()
  await queue[Symbol.asyncDispose]()
})

const controller = await connectQueue({
  url: queue.urlOf('controller'),
  name: 'test',
  inboxPrefix: userInboxPrefix('controller'),
  notice: () => {},
})
t.teardown(() => controller[Symbol.asyncDispose]())
const heartbeats = new Map<string, HeartbeatMessage & { count: number }>()
controller.subscribe(heartbeatFilter('standard'), ({ data }) => {
  const heartbeat = heartbeatCodec.decode(data)
  heartbeats.set(heartbeat.pod, { ...heartbeat, count: (heartbeats.get(heartbeat.pod)?.count ?? 0) + 1 })
})

/** Creates a Deployment of one worker; returns the name of its pod once it exists. */
const deploy = async (app: string) => {
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { ...poolLabels('shutterfleet', 'pool'), app } },
        spec: {
          terminationGracePeriodSeconds: 30,
          containers: [
            {
              name: 'worker',
              image: 'none',
              args: ['node', 'services/worker/main.js'],
              env: [{ name: 'SHUTTERFLEET_WORKER_POOL', value: 'standard' }],
            },
          ],
        },
      },
    },
  })
  await eventually(async () => (await podsOf(app)).length === 1, { what: 'the pod' })
  return nameOf(await podOf(app))
}

const podsOf = async (app: string) => (await cluster.get<{ items: PodObject[] }>('pods', '-l', `app=${app}`)).items
const podOf = async (app: string) => (await podsOf(app))[0]!
const nameOf = ({ metadata }: PodObject) => metadata.name
const isBusy = (pod: string) => (heartbeats.get(pod)?.busy ?? 0) > 0
const ready = (pod: string) =>
  eventually(() => heartbeats.get(pod)?.state === 'ready', { what: 'a heartbeat of the worker' })
const remove = async (app: string) => {
  await cluster.kubectl(['delete', 'deployment', app])
  await eventually(async () => (await podsOf(app)).length === 0, { what: 'the pods are deleted' })
}
const attemptsOf = (ids: readonly string[]) => fleet.attempts.filter(({ id }) => ids.includes(id))

t.test('cluster fleet: a deleted busy worker finishes within its grace period and is recorded', async (t) => {
  const pod = await deploy('deleted')
  await ready(pod)
  serviceMs = 1500
  const ids = await queue.send(1)
  await eventually(() => isBusy(pod))
  await remove('deleted')
  serviceMs = 50
  t.match(attemptsOf(ids), [{ pod, outcome: 'completed' }])
  t.match(fleet.busyEnds(), [{ pod, how: 'stopped', busy: ids }])
})

t.test(
  'cluster fleet: captures of a frozen or crashed worker are redelivered, and a thawed worker reports its result too',
  async (t) => {
    plannedFaults.set('dying', { kind: 'dies-serving', exitCode: 139 })
    serviceMs = 500
    const frozen = await deploy('frozen')
    await ready(frozen)
    const held = await queue.send(1)
    await eventually(() => isBusy(frozen))
    fleet.injectFault(frozen, { kind: 'frozen' })
    const dying = await deploy('dying')
    await ready(dying)
    const lost = await queue.send(1)
    await eventually(() => attemptsOf(lost).length === 1)
    plannedFaults.clear()
    await eventually(async () => (await podOf('dying')).status!.containerStatuses![0]!.restartCount === 1)
    const { count } = heartbeats.get(frozen)!
    await queue.allEnded()
    t.equal(heartbeats.get(frozen)!.count, count)
    t.match(attemptsOf(lost), [{ pod: dying }, { pod: dying, attempt: 2, outcome: 'completed' }])
    t.match(attemptsOf(held), [{ pod: frozen }, { pod: dying, attempt: 2 }])
    fleet.clearFault(frozen)
    await eventually(() => queue.endedTwice().length === 1, { what: 'the thawed worker reports' })
    t.equal(queue.endedTwice()[0]?.id, held[0])
    serviceMs = 50
    for (const app of ['frozen', 'dying']) await remove(app)
  },
)

t.test('cluster fleet: a worker that does not exit is killed at the end of its grace period', async (t) => {
  const pod = await deploy('stuck')
  await ready(pod)
  fleet.injectFault(pod, { kind: 'frozen' })
  await cluster.kubectl(['delete', 'pod', pod, '--grace-period=1', '--wait=false'])
  await eventually(async () => !(await podsOf('stuck')).map(nameOf).includes(pod), { what: 'the pod is deleted' })
  t.match(
    fleet.ends.filter((end) => end.pod === pod),
    [{ how: 'stopped' }, { how: 'killed' }],
  )
  await remove('stuck')
})

t.test('cluster fleet: a pod on a partitioned node keeps its last status and serves captures', async (t) => {
  const pod = await deploy('far')
  await ready(pod)
  fleet.injectFault(pod, { kind: 'cut-off' })
  await cluster.kubectl(['delete', 'pod', pod, '--wait=false'])
  const ids = await queue.send(10)
  await queue.allEnded()
  t.ok(attemptsOf(ids).some((each) => each.pod === pod))
  t.match(await cluster.get('pod', pod), { metadata: { deletionTimestamp: String }, status: { phase: 'Running' } })
  fleet.clearFault(pod)
  await eventually(async () => !(await podsOf('far')).map(nameOf).includes(pod), { what: 'the pod is deleted' })
  await remove('far')
})
