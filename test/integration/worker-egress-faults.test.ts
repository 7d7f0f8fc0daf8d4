import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startFaultedWorker } from '#test/helpers/faulted-worker.ts'
import { openTestDetails } from '#test/helpers/record-seal.ts'

// As in service-faults.test.ts.
const captures = Number(process.env['FAULT_CAPTURES'] ?? 5)

t.setTimeout(200_000 + captures * 4000)

const worker = await startFaultedWorker(t)
const { pagesUrl, held, send } = worker

const killWhile = async (t: Test, path: string, expected: object) => {
  await worker.ready()
  const id = await send({ url: pagesUrl + path })
  await eventually(() => held() === 1)
  await worker.endEgress()
  await eventually(() => worker.isHandedBack(id))
  await worker.awayFromEgress()
  t.notOk(await worker.hasResult(id))
  await worker.startEgress()
  await eventually(() => held() === 1)
  worker.releasePages()
  t.match(await worker.result(id), { ...expected, attempt: 1 })
  await worker.depthIs(0)
}

// Contract: Service faults
t.test('worker egress faults: an egress killed before the page responds costs the capture no attempt', (t) =>
  killWhile(t, '/held', { outcome: 'completed' }),
)

// Contract: Service faults
t.test('worker egress faults: an egress killed while an image loads costs the capture no attempt', (t) =>
  killWhile(t, '/image-held', { outcome: 'completed' }),
)

// Contract: Service faults
t.test(
  'worker egress faults: an egress killed during a page costs no attempt; a page whose own connection is lost fails',
  (t) => killWhile(t, '/half', { outcome: 'failed', code: 'CONNECTION_FAILED' }),
)

// Contract: Service faults
t.test(
  'worker egress faults: while egress is down the worker takes no capture, and waiting ones keep their attempts',
  async (t) => {
    await worker.endEgress()
    await worker.awayFromEgress()
    const id = await send({ url: `${pagesUrl}/plain` })
    await worker.depthIs(1)
    t.ok(await worker.isAlive(), 'a restart would not help')
    t.equal(await worker.lastStarted(id), undefined)
    await worker.startEgress()
    t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
  },
)

// Contract: Service faults
t.test(
  'worker egress faults: broken connections between worker and egress cost no attempt, however often',
  async (t) => {
    await worker.ready()
    const ids = await Promise.all(Array.from({ length: captures }, () => send({ url: `${pagesUrl}/image-held` })))
    const imageHits = () => worker.hits.filter((path) => path === '/held').length
    await eventually(() => held() > 0)
    for (let cuts = 0; cuts < 4; cuts += 1) {
      const before = imageHits()
      worker.cutConnections()
      // Requested again by the browser itself or by the redelivered attempt.
      await eventually(() => imageHits() > before)
    }
    const answering = setInterval(worker.releasePages, 50)
    for (const id of ids) t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
    clearInterval(answering)
    await worker.depthIs(0)
  },
)

// Contract: Service faults
t.test('worker egress faults: a draining egress costs the capture no attempt', async (t) => {
  await worker.ready()
  const id = await send({ url: `${pagesUrl}/held` })
  await eventually(() => held() === 1)
  const ended = worker.endEgress('SIGTERM')
  await worker.awayFromEgress()
  worker.releasePages()
  await ended
  await eventually(() => worker.isHandedBack(id))
  await worker.startEgress()
  await eventually(() => held() === 1)
  worker.releasePages()
  t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
})

/** Starts an egress whose connections are all in use until `leave` closes them. */
const startFullEgress = async () => {
  await worker.endEgress()
  await worker.startEgress({ SHUTTERFLEET_EGRESS_CONNECTIONS_MAX: '2' })
  await worker.ready()
  const { host } = new URL(pagesUrl)
  const clients = [1, 2].map(() => connect({ port: worker.egressPort, host: '127.0.0.1' }))
  for (const client of clients) {
    client.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await once(client, 'data')
  }
  const leave = () => {
    for (const client of clients) client.destroy()
  }
  return { leave }
}

// Contract: Service faults
t.test(
  'worker egress faults: an egress at its connection limit costs the capture no attempt, and is logged',
  async (t) => {
    const clients = await startFullEgress()
    const id = await send({ url: `${pagesUrl}/plain` })
    await eventually(() => worker.isHandedBack(id))
    t.match(await worker.lastStarted(id), { attempt: 1, handBacks: 1 })
    t.notOk(await worker.hasResult(id))
    await eventually(() => /no room for connections.*SHUTTERFLEET_EGRESS_CONNECTIONS_MAX/.test(worker.log()))
    clients.leave()
    t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
  },
)

// Contract: Service faults
t.test(
  'worker egress faults: an egress that stays full fails the capture after the last redelivery of its last attempt',
  async (t) => {
    const clients = await startFullEgress()
    const id = await worker.sendStarted({ url: `${pagesUrl}/plain` }, { attempt: 2, kind: 'handed-back', handBacks: 3 })
    const message = 'The service had no room for the connections of the capture.'
    const result = await worker.result(id)
    t.match(result, { outcome: 'failed', code: 'JOB_FAILED', attempt: 2 })
    t.strictSame(openTestDetails(result.details ?? ''), { message })
    await worker.depthIs(0)
    clients.leave()
    await worker.endEgress()
    await worker.startEgress()
  },
)

// Contract: Service faults
t.test('worker egress faults: connections reset between worker and egress do not fail the page', async (t) => {
  await worker.ready()
  const id = await send({ url: `${pagesUrl}/held` })
  await eventually(() => held() === 1)
  worker.resetTunnels()
  await eventually(() => worker.isHandedBack(id))
  t.match(await worker.lastStarted(id), { attempt: 1, handBacks: 1 })
  await eventually(() => held() === 1)
  worker.releasePages()
  t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
})

// Contract: Service faults
t.test(
  'worker egress faults: connections reset each time: JOB_FAILED after three redeliveries of each of two attempts',
  async (t) => {
    await worker.ready()
    const loads = () => worker.hits.filter((path) => path === '/held').length
    const before = loads()
    const id = await send({ url: `${pagesUrl}/held` })
    for (let load = 1; load <= 8; load += 1) {
      await eventually(() => loads() === before + load, { withinMs: 60_000, what: `load ${load}` })
      t.notOk(await worker.hasResult(id))
      worker.resetTunnels()
    }
    const message = 'The connections of the capture broke within the service.'
    const result = await worker.result(id)
    t.match(result, { outcome: 'failed', code: 'JOB_FAILED', attempt: 2 })
    t.strictSame(openTestDetails(result.details ?? ''), { message })
    t.equal(loads(), before + 8)
    await worker.depthIs(0)
  },
)

// Contract: Service faults
t.test('worker egress faults: a page that opens more connections than egress accepts is captured', async (t) => {
  await worker.endEgress()
  await worker.startEgress({ SHUTTERFLEET_EGRESS_CONNECTIONS_MAX: '64' })
  await worker.ready()
  const id = await send({ url: `${pagesUrl}/connects` })
  t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
  t.match(await worker.lastStarted(id), { kind: 'begun', attempt: 1 })
})
