import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { accountsText, type QueuePasswords } from '#local/nats-config.ts'
import type { Lane } from '#shared/capture/lane.ts'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { heartbeatCodec, type HeartbeatMessage } from '#shared/queue/messages.ts'
import { userInboxPrefix, queueUsers } from '#shared/queue/permissions.ts'
import { generateSealingKeys, readSealingKey } from '#shared/queue/seal.ts'
import { declareStreams, poolDepth } from '#shared/queue/streams.ts'
import { heartbeatFilter } from '#shared/queue/subjects.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import {
  awaitResult,
  waitForResult,
  sendCapture,
  spawnWorker,
  waitForStarted,
  startObjectSink,
  startWorker,
} from '#test/helpers/browser-worker.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { processTree } from '#test/helpers/process-tree.ts'

const pool = 'proxied'
const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, 'secret'])) as QueuePasswords
const nats = await startNats(t, { config: accountsText(passwords) })
const urlFor = (user: keyof QueuePasswords) => nats.url.replace('//', `//${user}:secret@`)
const queue = await connectQueue({
  url: urlFor('operator'),
  name: 'test',
  inboxPrefix: userInboxPrefix('operator'),
  notice: () => {},
})
await declareStreams(queue)
const held: (() => void)[] = []
const releaseHeld = () => held.splice(0).map((answer) => answer())
const pages = await startPages({
  '/held': (_request, response) => {
    held.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>at last</h1>'))
  },
})
const filter = await startFilter({ rules: targetRules(pages.host), connectionBytesMax: 1e9 })
const store = await startObjectSink()
const keys = generateSealingKeys()
const folder = await mkdtemp(join(tmpdir(), 'worker-job-'))
// The browser's user needs to traverse the folder.
await chmod(folder, 0o711)
t.teardown(async () => {
  await queue[Symbol.asyncDispose]()
  await Promise.all([pages, filter, store].map((each) => each[Symbol.asyncDispose]()))
  await rm(folder, { recursive: true, force: true })
})

const settingsOf = (pod: string, more: Readonly<Record<string, string>> = {}) => ({
  TMPDIR: folder,
  SHUTTERFLEET_NATS_URL: urlFor('worker_proxied'),
  SHUTTERFLEET_WORKER_POOL: pool,
  SHUTTERFLEET_WORKER_EGRESS: `127.0.0.1:${filter.port}`,
  SHUTTERFLEET_WORKER_OPENING_KEYS: keys.private,
  SHUTTERFLEET_WORKER_POD: pod,
  // Ignored by a worker that serves one capture.
  SHUTTERFLEET_WORKER_SLOTS: '4',
  ...more,
})
const startJob = async (pod: string, more?: Readonly<Record<string, string>>) => {
  const job = await startWorker(settingsOf(pod, more), 'main-job.ts')
  t.teardown(() => job[Symbol.asyncDispose]())
  return job
}

const heartbeats = new Map<string, HeartbeatMessage[]>()
queue.subscribe(heartbeatFilter(pool), ({ data }) => {
  const heartbeat = heartbeatCodec.decode(data)
  heartbeats.set(heartbeat.pod, [...(heartbeats.get(heartbeat.pod) ?? []), heartbeat])
})
const lastHeartbeat = (pod: string) => heartbeats.get(pod)?.at(-1)
const to = { queue, sealingKey: readSealingKey(keys.public), storeUrl: store.url }
const send = (parameters: CaptureParameters, lane: Lane = 'normal') => sendCapture(to, parameters, { pool, lane })
/** Waits for a number of unended captures; JetStream counts a returned capture as in flight. */
const depthIs = (depth: number) =>
  eventually(
    async () => {
      const { waiting, inFlight } = await poolDepth(queue, pool)
      return waiting + inFlight === depth
    },
    { what: `${depth} in the queue` },
  )
const allGone = (pids: readonly number[]) =>
  eventually(() => !pids.some((pid) => processTree(pid).length > 0), { what: 'all processes have ended' })
/** A spare time below JetStream's ack wait. */
const shortSpare = { SHUTTERFLEET_WORKER_SPARE_SECONDS: '8' }

// Takes a minute: started here, checked in the last test.
const broken = spawnWorker(settingsOf('broken', { SHUTTERFLEET_CHROMIUM: '/bin/false' }), 'main-job.ts')
t.teardown(() => broken.child.kill('SIGKILL'))

t.test('worker job: serves one capture, leaves all others in the queue, and exits with 0', async (t) => {
  const one = await startJob('job-one')
  await eventually(() => lastHeartbeat('job-one')?.state === 'ready')
  t.match(lastHeartbeat('job-one'), { slots: 1, busy: 0, captures: [] })
  const captures = [await send({ url: `${pages.url}/held` }), await send({ url: `${pages.url}/held` }, 'bulk')]
  await eventually(() => held.length === 1)
  const [begun = ''] = lastHeartbeat('job-one')?.captures ?? []
  t.match(await waitForStarted(queue, begun, pool), { kind: 'begun', attempt: 1, pod: 'job-one' })
  const others = processTree(one.pid).map(({ pid }) => pid)
  releaseHeld()
  t.equal(await one.ended, 0, one.log())
  t.match(await waitForResult(queue, begun, pool), { outcome: 'completed', targetStatus: 200 })
  await depthIs(1)
  const { id: left = '' } = captures.find(({ id }) => id !== begun) ?? {}
  t.equal(await waitForStarted(queue, left, pool), undefined)
  await allGone(others)

  const sent = heartbeats.get('job-one') ?? []
  const claimedAt = sent.findIndex((heartbeat) => heartbeat.captures.includes(begun))
  t.ok(claimedAt > 0)
  t.notOk(
    sent.slice(claimedAt).some((heartbeat) => heartbeat.state === 'ready' && heartbeat.captures.length === 0),
    'it never reports a free slot again',
  )
  t.match(sent.at(-1), { state: 'drained', captures: [] })

  const two = await startJob('job-two', shortSpare)
  await eventually(() => held.length === 1)
  releaseHeld()
  t.equal(await two.ended, 0)
  t.match(await waitForResult(queue, left, pool), { outcome: 'completed' })
  await depthIs(0)
})

t.test('worker job: two waiting workers serve one of two captures each, whatever their lanes', async (t) => {
  const pods = ['share-a', 'share-b']
  const jobs = await Promise.all(pods.map((pod) => startJob(pod, shortSpare)))
  await eventually(() => pods.every((pod) => lastHeartbeat(pod)?.state === 'ready'))
  const captures = [await send({ html: '<h1>one</h1>' }, 'interactive'), await send({ html: '<h1>two</h1>' }, 'bulk')]
  for (const job of jobs) t.equal(await job.ended, 0)
  const served = await Promise.all(captures.map(async ({ id }) => (await waitForStarted(queue, id, pool))?.pod ?? ''))
  t.same(served.toSorted(), pods)
  for (const { id } of captures) t.match(await waitForResult(queue, id, pool), { outcome: 'completed', attempt: 1 })
})

t.test('worker job: exits with 0 after a failed capture', async (t) => {
  const { id } = await send({ url: 'http://10.0.0.1/' })
  const job = await startJob('fails')
  t.equal(await job.ended, 0)
  t.match(await waitForResult(queue, id, pool), { outcome: 'failed', code: 'BLOCKED' })
  await depthIs(0)
})

t.test('worker job: drains and exits with 0 if no capture arrives in its spare time', async (t) => {
  const job = await startJob('spare', shortSpare)
  t.equal(await job.ended, 0)
  t.match(lastHeartbeat('spare'), { state: 'drained', captures: [] })
  const { id } = await send({ html: '<h1>later</h1>' })
  await depthIs(1)
  const next = await startJob('next', shortSpare)
  t.match(await awaitResult(queue, id, pool), { outcome: 'completed' })
  t.equal(await next.ended, 0)
})

t.test('worker job: finishes its capture on SIGTERM', async (t) => {
  const job = await startJob('told')
  const { id } = await send({ url: `${pages.url}/held` })
  await eventually(() => held.length === 1)
  const stopped = job.stop()
  await eventually(() => lastHeartbeat('told')?.state === 'draining')
  releaseHeld()
  t.equal(await stopped, 0)
  t.match(await waitForResult(queue, id, pool), { outcome: 'completed' })
  await depthIs(0)
})

t.test('worker job: takes no capture after SIGTERM, warm or not', async (t) => {
  const warm = await startJob('warm')
  t.equal(await warm.stop(), 0)
  const hanging = join(folder, 'hanging')
  await writeFile(hanging, '#!/bin/sh\nexec sleep 1000\n', { mode: 0o755 })
  const cold = spawnWorker(settingsOf('cold', { SHUTTERFLEET_CHROMIUM: hanging }), 'main-job.ts')
  t.teardown(() => cold.child.kill('SIGKILL'))
  await eventually(() => lastHeartbeat('cold')?.state === 'starting')
  const processes = processTree(cold.child.pid ?? 0).map(({ pid }) => pid)
  cold.child.kill('SIGTERM')
  // Before the timeout of the warm-up.
  await eventually(() => cold.child.exitCode !== null, { what: 'the worker has exited' })
  t.equal(await cold.ended, 0, cold.log())
  await allGone(processes)
  t.notMatch(cold.log(), 'ended by force')
})

t.test('worker job: exits with 1 if no browser starts', { timeout: 100_000 }, async (t) => {
  t.equal(await broken.ended, 1)
  t.match(broken.log(), /browser host failed to start[^]*no browser started within 60000 ms/)
  t.notMatch(broken.log(), 'ended by force')
  t.notOk(lastHeartbeat('broken')?.state === 'ready')
})
