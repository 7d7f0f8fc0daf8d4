import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import t from 'tap'
import {
  heartbeatCodec,
  type HeartbeatMessage,
  captureCodec,
  resultCodec,
  sealedCodec,
  signedCodec,
  startedCodec,
} from '#shared/queue/messages.ts'
import { generateSealingKeys, readSealingKey, seal } from '#shared/queue/seal.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import {
  heartbeatFilter,
  captureSubject,
  drainSubject,
  resultSubject,
  signFilter,
  startedSubject,
  undrainSubject,
} from '#shared/queue/subjects.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { awaitResult, waitForResult, sendCapture, waitForStarted, startWorker } from '#test/helpers/browser-worker.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startLoneWorker } from '#test/helpers/lone-worker.ts'
import { processTree } from '#test/helpers/process-tree.ts'

const pages = await startPages({
  '/held': (_request, response) => {
    held.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>at last</h1>'))
  },
})
const held: (() => void)[] = []
const releaseHeld = () => held.splice(0).map((answer) => answer())
const filter = await startFilter({ rules: targetRules(pages.host), connectionBytesMax: 1e9 })
t.teardown(() => Promise.all([pages, filter].map((each) => each[Symbol.asyncDispose]())))
const { worker, queue, nats, store, settings, to } = await startLoneWorker(t, filter.port)

let lastHeartbeat: HeartbeatMessage | undefined
let heartbeats = 0
queue.subscribe(heartbeatFilter('standard'), ({ data }) => {
  heartbeats += 1
  lastHeartbeat = heartbeatCodec.decode(data)
})
const state = (expected: HeartbeatMessage['state']) =>
  eventually(() => lastHeartbeat?.state === expected, { what: expected })
const send = (parameters: CaptureParameters, overrides?: Parameters<typeof sendCapture>[2]) =>
  sendCapture(to, parameters, overrides)
const queueIsEmpty = () =>
  eventually(async () => {
    const { waiting, inFlight } = await poolDepth(queue, 'standard')
    return waiting + inFlight === 0
  })
const isHost = ({ command }: { command: string }) =>
  command.startsWith(process.execPath) && command.includes('browser-host/main')
const hostPids = () =>
  processTree(worker.pid)
    .filter(isHost)
    .map(({ pid }) => pid)

t.test('worker: is ready when it is warm', async (t) => {
  t.equal((await fetch(`${worker.probeUrl}/readyz`)).status, 200)
  await state('ready')
  t.match(lastHeartbeat, { pod: 'pod-1', pool: 'standard', slots: 1, busy: 0, captures: [] })
})

t.test('worker: stores the image of a capture, reports the result and acknowledges the message', async (t) => {
  const { id, token, keys: objectKeys } = await send({ url: `${pages.url}/plain` })
  const result = await awaitResult(queue, id)
  t.match(result, { attempt: 1, token, outcome: 'completed', objectKey: objectKeys[0], width: 1280, targetStatus: 200 })
  t.match(await waitForStarted(queue, id), { kind: 'begun', attempt: 1, pod: 'pod-1' })
  const image = store.objects.get(objectKeys[0] ?? '')
  if (!image || result.outcome !== 'completed') return t.fail('no image')
  t.equal(result.bytes, image.length)
  t.equal(result.sha256, createHash('sha256').update(image).digest('hex'))
  await queueIsEmpty()
})

t.test('worker: reports a failed capture with code and message', async (t) => {
  const { id } = await send({ url: 'http://10.0.0.1/' })
  t.match(await awaitResult(queue, id), { outcome: 'failed', code: 'BLOCKED', attempt: 1 })
  await queueIsEmpty()
})

// Contract: Time budget
t.test('worker: counts attempts from the larger number of the message and of the last started report', async (t) => {
  const id = crypto.randomUUID()
  const begun = startedCodec.encode({ id, attempt: 2, kind: 'begun', pod: 'other' })
  await publishStored(queue, startedSubject({ pool: 'standard', id }), begun)
  const sent = await send({ html: 'x' }, { id, attempts: 1 })
  t.match(await awaitResult(queue, id), { attempt: 3, objectKey: sent.keys[2] })
})

// Contract: Status never moves back
t.test('worker: does not count a returned attempt', async (t) => {
  const id = crypto.randomUUID()
  const handed = startedCodec.encode({ id, attempt: 1, kind: 'handed-back', pod: 'other' })
  await publishStored(queue, startedSubject({ pool: 'standard', id }), handed)
  await send({ html: 'x' }, { id })
  t.match(await awaitResult(queue, id), { attempt: 1 })
})

// Contract: Time budget
t.test('worker: drops a capture that has ended or has no attempts left', async (t) => {
  const ended = crypto.randomUUID()
  const result = { id: ended, attempt: 1, token: 'x', outcome: 'failed', code: 'TIMEOUT' } as const
  const begun = startedCodec.encode({ id: ended, attempt: 1, kind: 'begun', pod: 'other' })
  await publishStored(queue, startedSubject({ pool: 'standard', id: ended }), begun)
  await publishStored(
    queue,
    resultSubject({ pool: 'standard', id: ended }),
    resultCodec.encode({ ...result, timings: {} }),
  )
  await send({ html: 'x' }, { id: ended })
  const { id: worn } = await send({ html: 'x' }, { attempts: 3 })
  await queueIsEmpty()
  t.match(await waitForStarted(queue, ended), { attempt: 1, pod: 'other' })
  t.equal(await waitForStarted(queue, worn), undefined)
  t.equal(await waitForResult(queue, worn), undefined)
})

t.test('worker: reports a message that it cannot decrypt as unreadable', async (t) => {
  const other = readSealingKey(generateSealingKeys().public)
  const { id } = await sendCapture({ ...to, sealingKey: other }, { html: 'x' })
  await eventually(async () => (await waitForStarted(queue, id))?.kind === 'unreadable')
  await queueIsEmpty()
  t.equal(await waitForResult(queue, id), undefined)
})

t.test('worker: reports a message whose capture differs from its subject as unreadable', async (t) => {
  const [id, named] = [crypto.randomUUID(), crypto.randomUUID()]
  const part = {
    options: withDefaults({ html: 'x' }),
    token: 'token',
    resultKey: 'x:eA==',
    puts: [{ key: 'key', url: store.url }],
  }
  const sealed = seal(to.sealingKey, named, sealedCodec.encode(part)).toString('base64')
  const message = captureCodec.encode({ id: named, pool: 'standard', budgetMs: 30_000, attempts: 0, sealed })
  await publishStored(queue, captureSubject({ pool: 'standard', lane: 'normal', accountId: 'a', id }), message)
  await eventually(async () => (await waitForStarted(queue, id))?.kind === 'unreadable')
  await queueIsEmpty()
  t.same([await waitForResult(queue, id), await waitForResult(queue, named)], [undefined, undefined])
})

t.test('worker: retries a PUT that the store rejects temporarily', async (t) => {
  store.refuse(2)
  const { id } = await send({ html: 'x' })
  t.match(await awaitResult(queue, id), { outcome: 'completed' })
})

// Contract: Service faults
t.test(
  'worker: while the store takes no image, an attempt is handed back uncounted, no capture is taken, and the image is stored late',
  async (t) => {
    store.refuse(Infinity, 507)
    const first = await send({ html: 'first' }, { budgetMs: 12_000 })
    await eventually(async () => (await waitForStarted(queue, first.id))?.kind === 'handed-back', {
      what: 'handed back',
    })
    const readiness = await fetch(`${worker.probeUrl}/readyz`)
    t.match([readiness.status, await readiness.text()], [503, /"store":"images cannot be stored: status 507/])
    t.match(
      await (await fetch(`${worker.probeUrl}/metrics`)).text(),
      /^shutterfleet_worker_held\{.*cause="store".*\} 1$/m,
    )
    const waiting = await send({ html: 'second' })
    const until = heartbeats + 2
    await eventually(() => heartbeats >= until)
    t.equal(await waitForStarted(queue, waiting.id), undefined)
    t.equal(await waitForResult(queue, first.id), undefined)
    store.refuse(0)
    t.match(await awaitResult(queue, first.id), { outcome: 'completed', attempt: 1, objectKey: first.keys[0] })
    t.match(await awaitResult(queue, waiting.id), { outcome: 'completed', attempt: 1 })
    t.equal((await fetch(`${worker.probeUrl}/readyz`)).status, 200)
    await queueIsEmpty()
  },
)

t.test('worker: a capture that arrives after its end is dropped, and holds no worker', async (t) => {
  using _gateway = queue.subscribe(signFilter('standard'), ({ reply }) =>
    queue.publish(reply ?? '', signedCodec.encode({})),
  )
  store.refuse(1, 403)
  const { id } = await send({ html: 'deleted' })
  await eventually(async () => (await waitForStarted(queue, id))?.kind === 'begun', { what: 'begun' })
  await queueIsEmpty()
  t.same(
    [(await waitForStarted(queue, id))?.kind, await waitForResult(queue, id)],
    ['begun', undefined],
    'not handed back',
  )
  t.match(
    await (await fetch(`${worker.probeUrl}/metrics`)).text(),
    /^shutterfleet_worker_held\{.*cause="store".*\} 0$/m,
  )
})

t.test('worker: a refused address is replaced by one that is requested from the gateway', async (t) => {
  const received: string[] = []
  const fresh = newObjectKey(crypto.randomUUID(), new Date())
  using _gateway = queue.subscribe(signFilter('standard'), ({ subject, reply }) => {
    received.push(subject)
    queue.publish(reply ?? '', signedCodec.encode({ put: { key: fresh, url: `${store.url}/${fresh}` } }))
  })
  store.refuse(1, 403)
  const { id } = await send({ html: 'x' })
  t.match(await awaitResult(queue, id), { outcome: 'completed', attempt: 1, objectKey: fresh })
  t.same(received, [`sign.standard.${id}`])
})

t.test('slot: takes the next capture while one is being stored, and no third', async (t) => {
  store.hold()
  const [first, second] = [await send({ html: 'first' }), await send({ html: 'second' })]
  await eventually(() => store.held() === 2, { what: 'two images on their way to the store' })
  t.same([await waitForResult(queue, first.id), await waitForResult(queue, second.id)], [undefined, undefined])
  const third = await send({ html: 'third' })
  const until = heartbeats + 2
  await eventually(() => heartbeats >= until)
  t.equal(await waitForStarted(queue, third.id), undefined)
  t.match(lastHeartbeat, { state: 'ready', slots: 1, busy: 1 })
  t.same(lastHeartbeat?.captures.toSorted(), [first.id, second.id].toSorted())
  store.release()
  for (const { id } of [first, second, third])
    t.match(await awaitResult(queue, id), { outcome: 'completed', attempt: 1 })
  await queueIsEmpty()
})

t.test('drain: finishes a capture that is being stored', async (t) => {
  store.hold()
  const { id } = await send({ html: 'x' })
  await eventually(() => store.held() === 1)
  queue.publish(drainSubject({ pool: 'standard', pod: 'pod-1' }), new Uint8Array())
  await state('draining')
  t.same(lastHeartbeat?.captures, [id])
  store.release()
  await state('drained')
  t.match(await waitForResult(queue, id), { outcome: 'completed' })
  queue.publish(undrainSubject({ pool: 'standard', pod: 'pod-1' }), new Uint8Array())
  await state('ready')
})

t.test('worker: reports a result across a restart of NATS', async (t) => {
  const { id } = await send({ url: `${pages.url}/held` })
  await eventually(() => held.length === 1)
  await nats.restart()
  let isReported = false
  const result = awaitResult(queue, id).finally(() => {
    isReported = true
  })
  // The capture may be redelivered meanwhile, and its page requested again.
  await eventually(() => {
    releaseHeld()
    return isReported
  })
  t.match(await result, { outcome: 'completed' })
})

t.test('worker: takes no capture while it is drained', async (t) => {
  queue.publish(drainSubject({ pool: 'standard', pod: 'pod-1' }), new Uint8Array())
  await state('drained')
  t.equal((await fetch(`${worker.probeUrl}/readyz`)).status, 503)
  const { id } = await send({ html: 'x' })
  const until = heartbeats + 2
  await eventually(() => heartbeats >= until)
  t.equal(await waitForStarted(queue, id), undefined)
  queue.publish(undrainSubject({ pool: 'standard', pod: 'pod-1' }), new Uint8Array())
  t.match(await awaitResult(queue, id), { outcome: 'completed' })
})

// Contract: Time budget
t.test(
  'worker: kills a frozen browser host at the deadline, and captures again with another, as the page is not to blame',
  async (t) => {
    // NATS, when it was restarted, may have delivered an earlier capture once more.
    await eventually(() => {
      releaseHeld()
      return lastHeartbeat?.busy === 0
    })
    await queueIsEmpty()
    const [stalled = 0] = hostPids()
    const { id } = await send({ url: `${pages.url}/held` }, { budgetMs: 7000 })
    await eventually(() => held.length === 1)
    process.kill(stalled, 'SIGSTOP')
    await eventually(() => held.length === 2, { withinMs: 60_000, what: 'another attempt' })
    releaseHeld()
    t.match(await awaitResult(queue, id), { outcome: 'completed', attempt: 1 })
    t.notOk(hostPids().includes(stalled))
  },
)

t.test(
  'worker: on SIGTERM finishes its capture, takes no other, and leaves no processes or files behind',
  async (t) => {
    const { id } = await send({ url: `${pages.url}/held` })
    await eventually(() => held.length === 1)
    const others = processTree(worker.pid).map(({ pid }) => pid)
    const stopped = worker.stop()
    await state('draining')
    const { id: late } = await send({ html: 'too late' })
    store.hold()
    releaseHeld()
    await eventually(() => store.held() === 1)
    const until = heartbeats + 1
    await eventually(() => heartbeats >= until, { what: 'another heartbeat' })
    store.release()
    t.equal(await stopped, 0)
    t.match(await waitForResult(queue, id), { outcome: 'completed' })
    t.equal(await waitForStarted(queue, late), undefined)
    const alive = (pid: number) => processTree(pid).length > 0
    await eventually(() => !others.some(alive), { what: 'all processes to end' })
    t.strictSame(readdirSync(settings.TMPDIR), [])
  },
)

t.test('worker: leaves no process behind when it is killed, although its host is suspended', async (t) => {
  const killed = await startWorker({ ...settings, SHUTTERFLEET_WORKER_POD: 'pod-2' })
  const started = processTree(killed.pid)
  for (const { pid } of started.filter(isHost)) process.kill(pid, 'SIGSTOP')
  await killed[Symbol.asyncDispose]()
  await eventually(() => !started.some(({ pid }) => processTree(pid).length > 0), { what: 'all processes to end' })
  t.ok(started.length > 5)
})

t.test('worker: fails to start with missing or invalid settings and names them', async (t) => {
  const { SHUTTERFLEET_WORKER_EGRESS: _egress, ...rest } = settings
  await t.rejects(startWorker(rest), /exit code 78: SHUTTERFLEET_WORKER_EGRESS is not set/)
  const nobody = { ...settings, SHUTTERFLEET_WORKER_BROWSER_USER: 'no-such-user' }
  if (process.getuid?.() === 0) await t.rejects(startWorker(nobody), /exit code 78: .*WORKER_BROWSER_USER/)
})
