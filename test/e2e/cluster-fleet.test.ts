import t from 'tap'
import { poolLabels } from '#shared/kube/names.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { type HeartbeatMessage, heartbeatCodec } from '#shared/queue/messages.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { heartbeatFilter, drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
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
for (const pool of ['standard', 'proxied'] as const) {
  controller.subscribe(heartbeatFilter(pool), ({ data }) => {
    const heartbeat = heartbeatCodec.decode(data)
    heartbeats.set(heartbeat.pod, { ...heartbeat, count: (heartbeats.get(heartbeat.pod)?.count ?? 0) + 1 })
  })
}

const template = (app: string, program: 'main' | 'main-job', env: Readonly<Record<string, string>>) => ({
  metadata: { labels: { ...poolLabels('shutterfleet', 'pool'), app } },
  spec: {
    restartPolicy: program === 'main' ? 'Always' : 'Never',
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: 'worker',
        image: 'none',
        args: ['node', `services/worker/${program}.js`],
        env: Object.entries(env).map(([name, value]) => ({ name: `SHUTTERFLEET_${name}`, value })),
      },
    ],
  },
})

/** Creates a Deployment; returns the names of its pods when all exist. */
const deploy = async (app: string, replicas: number, slots = 1) => {
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: template(app, 'main', { WORKER_POOL: 'standard', WORKER_SLOTS: String(slots) }),
    },
  })
  let names: string[] = []
  await eventually(async () => (names = (await podsOf(app)).map(nameOf)).length === replicas, { what: 'pods' })
  return names as [string, ...string[]]
}

/** Creates a Job whose worker uses the Job's name in its heartbeats. */
const runJob = (name: string, spareSeconds = 600) =>
  cluster.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      backoffLimit: 0,
      template: template(name, 'main-job', {
        WORKER_POOL: 'proxied',
        WORKER_POD: name,
        WORKER_SPARE_SECONDS: String(spareSeconds),
      }),
    },
  })

type Job = { status: { succeeded?: number; failed?: number } }
const jobOf = (name: string) => cluster.get<Job>('job', name)
const podsOf = async (app: string) => (await cluster.get<{ items: PodObject[] }>('pods', '-l', `app=${app}`)).items
const podOf = async (app: string) => (await podsOf(app))[0]!
const nameOf = ({ metadata }: PodObject) => metadata.name
const isReady = ({ status }: PodObject) =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false
const stateOf = ({ status }: PodObject) => status?.containerStatuses?.[0]?.state
const isBusy = (pod: string) => (heartbeats.get(pod)?.busy ?? 0) > 0
const ready = (...names: string[]) =>
  eventually(() => names.every((name) => heartbeats.get(name)?.state === 'ready'), {
    what: 'a heartbeat of each worker',
  })
const remove = async (app: string) => {
  await cluster.kubectl(['delete', 'deployment', app])
  await eventually(async () => (await podsOf(app)).length === 0, { what: 'the pods are deleted' })
}
const attemptsOf = (ids: readonly string[]) => fleet.attempts.filter(({ id }) => ids.includes(id))

t.test('cluster fleet: a Deployment of workers serves every capture once', async (t) => {
  const names = await deploy('plain', 3, 2)
  await ready(...names)
  await eventually(async () => (await podsOf('plain')).every(isReady), { what: 'the pods are ready' })
  const ids = await queue.send(30)
  await queue.allEnded()
  t.equal(new Set(attemptsOf(ids).map(({ id }) => id)).size, 30)
  t.equal(attemptsOf(ids).length, 30)
  t.ok(attemptsOf(ids).every(({ pod, outcome }) => names.includes(pod) && outcome === 'completed'))
  t.strictSame(queue.endedTwice(), [])
  t.match(heartbeats.get(names[0]), { slots: 2, busy: 0, serviceMs: Number })
  await remove('plain')
  t.strictSame(fleet.busyEnds(), [])
})

t.test(
  'cluster fleet: a draining worker finishes its capture; drained, it takes none and is not Ready until undrained',
  async (t) => {
    const [pod] = await deploy('draining', 1)
    await ready(pod)
    serviceMs = 1000
    const [first] = await queue.send(1)
    await eventually(() => isBusy(pod))
    controller.publish(drainSubject({ pool: 'standard', pod }), new Uint8Array())
    await eventually(() => heartbeats.get(pod)?.state === 'draining')
    await eventually(() => heartbeats.get(pod)?.state === 'drained')
    t.equal(queue.rows.get(first!)?.results.length, 1)
    await eventually(async () => !isReady(await podOf('draining')), { what: 'the pod is not ready' })
    serviceMs = 50
    const [second] = await queue.send(1)
    const { count } = heartbeats.get(pod)!
    await eventually(() => heartbeats.get(pod)!.count > count + 1)
    t.strictSame(attemptsOf([second!]), [])
    controller.publish(undrainSubject({ pool: 'standard', pod }), new Uint8Array())
    await queue.allEnded()
    await remove('draining')
  },
)

t.test('cluster fleet: a deleted busy worker finishes within its grace period and is recorded', async (t) => {
  const [pod] = await deploy('deleted', 1)
  await ready(pod)
  serviceMs = 1500
  const ids = await queue.send(1)
  await eventually(() => isBusy(pod))
  await remove('deleted')
  serviceMs = 50
  t.match(attemptsOf(ids), [{ pod, outcome: 'completed' }])
  t.match(fleet.busyEnds(), [{ pod, how: 'stopped', busy: ids }])
})

t.test('cluster fleet: a Job succeeds after one capture, or without one after the spare time', async (t) => {
  await runJob('one')
  await runJob('spare', 1)
  await eventually(async () => (await jobOf('spare')).status.succeeded === 1, { what: 'the spare Job succeeds' })
  await ready('one')
  const ids = await queue.send(2, { pool: 'proxied' })
  await eventually(async () => (await jobOf('one')).status.succeeded === 1, { what: 'the Job succeeds' })
  t.match(heartbeats.get('one'), { state: 'drained', busy: 0 })
  t.equal(attemptsOf(ids).length, 1)
  await runJob('two')
  await queue.allEnded()
  await cluster.kubectl(['wait', 'job/two', '--for=condition=Complete', '--timeout=30s'])
})

t.test(
  'cluster fleet: a container that is not pulled, exits or never becomes ready has the status of a real kubelet',
  async (t) => {
    plannedFaults.set('unpulled', {
      kind: 'cannot-start',
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "none"',
    })
    plannedFaults.set('crashing', { kind: 'ends', exitCode: 1 })
    plannedFaults.set('cold', { kind: 'never-ready' })
    plannedFaults.set('failing', { kind: 'ends', exitCode: 70 })
    const [unpulled] = await deploy('unpulled', 1)
    await deploy('crashing', 1)
    const [cold] = await deploy('cold', 1)
    await runJob('failing')
    await eventually(async () => (await jobOf('failing')).status.failed === 1, { what: 'the Job fails' })
    t.match(await podOf('failing'), {
      status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 70 } } }] },
    })
    await eventually(async () => (await podOf('crashing')).status!.containerStatuses![0]!.restartCount > 1)
    t.match(stateOf(await podOf('crashing')), { waiting: { reason: 'CrashLoopBackOff' } })
    await eventually(() => heartbeats.get(cold)!.count > 1)
    t.match(heartbeats.get(cold), { state: 'starting' })
    t.match(await podOf('cold'), { status: { phase: 'Running' } })
    t.notOk(isReady(await podOf('cold')))
    t.match(await podOf('unpulled'), {
      status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] },
    })
    t.notOk(heartbeats.has(unpulled))

    plannedFaults.clear()
    fleet.clearFault(unpulled)
    await ready(unpulled)
    for (const app of ['unpulled', 'crashing', 'cold']) await remove(app)
  },
)

t.test(
  'cluster fleet: captures of a frozen or crashed worker are redelivered, and a thawed worker reports its result too',
  async (t) => {
    plannedFaults.set('dying', { kind: 'dies-serving', exitCode: 139 })
    serviceMs = 500
    const [frozen] = await deploy('frozen', 1)
    await ready(frozen)
    const held = await queue.send(1)
    await eventually(() => isBusy(frozen))
    fleet.injectFault(frozen, { kind: 'frozen' })
    const [dying] = await deploy('dying', 1)
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
  const [pod] = await deploy('stuck', 1)
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

t.test('cluster fleet: a worker without heartbeats serves captures, and an evicted one is replaced', async (t) => {
  const names = await deploy('odd', 2)
  const [silent, evicted] = names as [string, string]
  await ready(...names)
  fleet.injectFault(silent, { kind: 'silent' })
  const { count } = heartbeats.get(silent)!
  const ids = await queue.send(30)
  await queue.allEnded()
  t.ok(attemptsOf(ids).some(({ pod }) => pod === silent))
  t.equal(heartbeats.get(silent)!.count, count)
  fleet.evict(evicted)
  await eventually(async () => (await podsOf('odd')).length === 3, { what: 'a replacement for the evicted pod' })
  t.match(await cluster.get('pod', evicted), { status: { phase: 'Failed', reason: 'Evicted' } })
  await remove('odd')
})

t.test('cluster fleet: a pod on a partitioned node keeps its last status and serves captures', async (t) => {
  const [pod] = await deploy('far', 1)
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
