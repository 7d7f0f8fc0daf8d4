import t, { type Test } from 'tap'
import { connectQueue } from '#shared/queue/connection.ts'
import { type HeartbeatMessage, heartbeatCodec } from '#shared/queue/messages.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { heartbeatFilter } from '#shared/queue/subjects.ts'
import type { StandInJobMode } from '#test/fixtures/stand-in-job.ts'
import { type ClusterQueue, startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { type ControllerProcess, endController, startController } from '#test/helpers/controlled-pool.ts'
import { eventually } from '#test/helpers/eventually.ts'

type Secret = { readonly stringData: Readonly<Record<'nats-url' | 'opening-keys', string>> }

/** Subscribes to heartbeats; returns the newest heartbeat of each single-use worker. */
const followHeartbeats = async (t: Test, { urlOf }: ClusterQueue) => {
  const name = 'operator'
  const queue = await connectQueue({ url: urlOf(name), name, inboxPrefix: userInboxPrefix(name), notice: () => {} })
  t.teardown(() => queue[Symbol.asyncDispose]())
  const heartbeats = new Map<string, HeartbeatMessage>()
  queue.subscribe(heartbeatFilter('proxied'), ({ data }) => {
    const heartbeat = heartbeatCodec.decode(data)
    heartbeats.set(heartbeat.pod, heartbeat)
  })
  return heartbeats
}

const begin = async (
  t: Test,
  settings: Record<string, string>,
  worker: { mode?: StandInJobMode; serviceMs?: number } = {},
) => {
  const queue = await startClusterQueue({ countMs: 200 })
  t.teardown(() => queue[Symbol.asyncDispose]())
  const heartbeats = await followHeartbeats(t, queue)
  const { stringData } = queue.secretOf('proxied', { name: 'worker', namespace: 'any' }) as Secret
  const env = {
    SHUTTERFLEET_NATS_URL: stringData['nats-url'],
    SHUTTERFLEET_WORKER_OPENING_KEYS: stringData['opening-keys'],
    STAND_IN_MODE: worker.mode ?? 'serve',
    STAND_IN_SERVICE_MS: String(worker.serviceMs ?? 0),
  }
  const controller = await startController(queue, {
    POOL_MIN: '0',
    POOL_MAX: '1',
    PROXIED_WORKER_ENV: JSON.stringify(env),
    ...settings,
  })
  t.teardown(() => endController(controller, 'SIGKILL'))
  return { queue, heartbeats, controller }
}

const isAlive = ({ pid }: HeartbeatMessage): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const alive = (heartbeats: ReadonlyMap<string, HeartbeatMessage>) => [...heartbeats.values()].filter(isAlive)
const metric = async ({ probeUrl }: ControllerProcess, line: RegExp): Promise<number> => {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  return Number(line.exec(text)?.[1] ?? 0)
}
const created = (controller: ControllerProcess) =>
  metric(
    controller,
    /shutterfleet_pool_jobs_created_total\{queue="proxied",browserpool="proxied",component="controller"\} (\d+)/,
  )
const startedPods = ({ rows }: ClusterQueue) => [...rows.values()].flatMap(({ starts }) => starts.map(({ pod }) => pod))

t.test("proxied runs: start a new process for each capture with a caller's proxy", async (t) => {
  const { queue, heartbeats, controller } = await begin(t, { PROXIED_MAX: '3' }, { serviceMs: 300 })
  await queue.send(8, { pool: 'proxied' })
  await queue.allEnded()
  t.equal(new Set(startedPods(queue)).size, 8)
  t.strictSame(queue.endedTwice(), [])
  await eventually(() => alive(heartbeats).length === 0)
  t.equal(await created(controller), 8)
  t.equal(
    await metric(
      controller,
      /pool_jobs_claimed_total\{queue="proxied",browserpool="proxied",component="controller"\} (\d+)/,
    ),
    8,
  )
  await eventually(() => queue.poolStates.get('proxied')?.reason === 'steady')
  t.match(queue.poolStates.get('proxied'), { canStart: true })
})

t.test('proxied runs: keep a spare process, and start another when it is taken', async (t) => {
  const { queue, heartbeats, controller } = await begin(t, { PROXIED_MAX: '3', PROXIED_SPARES: '1' })
  await eventually(() => alive(heartbeats).length === 1)
  const [spare] = alive(heartbeats)
  await queue.send(1, { pool: 'proxied' })
  await queue.allEnded()
  t.strictSame(startedPods(queue), [spare!.pod])
  await eventually(() => alive(heartbeats).some(({ pod, state }) => pod !== spare!.pod && state === 'ready'))
  t.equal(await created(controller), 2)
})

t.test('proxied runs: the capture of a killed process is redelivered to another and ends once', async (t) => {
  const { queue, heartbeats } = await begin(t, { PROXIED_MAX: '3' }, { serviceMs: 5000 })
  await queue.send(1, { pool: 'proxied' })
  await eventually(() => startedPods(queue).length === 1 && alive(heartbeats).length === 1)
  const [victim] = alive(heartbeats)
  process.kill(victim!.pid, 'SIGKILL')
  await queue.allEnded()
  const pods = startedPods(queue)
  t.equal(pods.length, 2)
  t.equal(pods[0], victim!.pod)
  t.not(pods[1], victim!.pod)
  t.strictSame(queue.endedTwice(), [])
})

t.test('proxied runs: report crash-looping processes, and retry with back-off', async (t) => {
  const { queue, controller } = await begin(t, { PROXIED_MAX: '3' }, { mode: 'end-at-start' })
  await queue.send(3, { pool: 'proxied' })
  const state = () => queue.poolStates.get('proxied')
  await eventually(() => state()?.canStart === false && (state()?.forMs ?? 0) > 4000)
  t.match(state(), { reason: 'crash-looping' })
  const tries = await created(controller)
  t.ok(tries >= 4 && tries <= 6, `three at first, then after 1, 2, 4 s: ${tries}`)
})

t.test('proxied runs: finish the running captures on SIGTERM, and leave no process behind', async (t) => {
  const settings = { PROXIED_MAX: '3', PROXIED_SPARES: '1' }
  const { queue, heartbeats, controller } = await begin(t, settings, { serviceMs: 1000 })
  await queue.send(1, { pool: 'proxied' })
  await eventually(() => alive(heartbeats).some(({ busy }) => busy === 1))
  t.equal(await endController(controller, 'SIGTERM'), 0)
  t.strictSame(alive(heartbeats), [])
  t.strictSame(queue.unended(), [])
})
