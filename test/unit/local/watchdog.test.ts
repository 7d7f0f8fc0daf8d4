import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { startNodeProcess } from '#local/node-process.ts'
import { supervise } from '#local/supervise.ts'
import { healthProbe, postgresProbe, untilStoreFails, untilUnresponsive } from '#local/watchdog.ts'
import { Rest } from '#shared/process/rest.ts'
import { eventually } from '#test/helpers/eventually.ts'

const rest = new Rest()
const pace = { everyMs: 20, rest }
const never = new AbortController().signal

/** A probe that gives the `answers` in order, and counts its calls. */
const createProbe = (answers: readonly boolean[]) => {
  let probed = 0
  const probe = async () => {
    probed += 1
    if (answers[probed - 1] !== true) throw new Error('no answer')
  }
  return { probe, probed: () => probed }
}

t.test('watchdog: two failures in a row mean a blocked event loop, one does not', async (t) => {
  const { probe, probed } = createProbe([true, false, true, false, false])
  t.match(await untilUnresponsive(probe, never, pace), 'has not responded')
  t.equal(probed(), 5)
})

t.test('watchdog: at rest probes are rare, but for those after one that failed', async (t) => {
  const { probe, probed } = createProbe([true, false, true, false, false])
  const waits: number[] = []
  const wait = async () => void waits.push(probed())
  t.match(await untilUnresponsive(probe, never, { ...pace, rest: { wait } }), 'has not responded')
  t.same(waits, [1, 3])
})

t.test('watchdog: a probe that times out has failed', async (t) => {
  const probe = (signal: AbortSignal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('late'))))
  t.match(await untilUnresponsive(probe, never, pace), 'has not responded')
})

t.test('watchdog: four failures in a row mean a failed store, three do not', async (t) => {
  const { probe, probed } = createProbe([false, false, false, true, false, false, false, false])
  t.match(
    await untilStoreFails(probe, { folder: t.testdir(), ...pace }, never),
    'has not responded or has rejected writes',
  )
  t.equal(probed(), 8)
})

t.test('watchdog: a failed store on a disk without space is left alone', async (t) => {
  const stop = new AbortController()
  const { probe, probed } = createProbe([])
  // The file system of processes has no space.
  const watching = untilStoreFails(probe, { folder: '/proc', ...pace }, stop.signal)
  await eventually(() => probed() > 8)
  stop.abort()
  await t.rejects(watching)
})

t.test('watchdog: PostgreSQL is probed by a request that it answers before it authenticates', async (t) => {
  const sent = Promise.withResolvers<string>()
  const server = createServer((socket) =>
    socket.on('data', (bytes) => (sent.resolve(bytes.toString('hex')), socket.end('N'))),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await postgresProbe(port)(never)
  t.equal(await sent.promise, '0000000804d2162f')
  server.close()
  await t.rejects(postgresProbe(port)(never))
})

t.test('watchdog: ends with its signal', async (t) => {
  const stop = new AbortController()
  const watching = untilUnresponsive(async () => {}, stop.signal, pace)
  stop.abort()
  await t.rejects(watching)
})

for (const signal of ['SIGSTOP', 'SIGUSR2'] as const) {
  t.test(`watchdog: a process blocked by ${signal} is replaced by one that responds`, async (t) => {
    const service = {
      name: 'blocked',
      main: join(import.meta.dirname, '../../fixtures/blocked-loop.ts'),
      env: {},
      logPath: join(t.testdir(), 'log'),
    }
    const reasons: string[] = []
    const part = await supervise(
      {
        name: service.name,
        stopSignal: 'SIGTERM',
        stopMs: 5000,
        start: (stop) => startNodeProcess(service, stop),
        untilUnresponsive: ({ addresses }, stop) =>
          untilUnresponsive(healthProbe(addresses['probeUrl'] ?? ''), stop, { everyMs: 1000, rest }),
      },
      never,
      { down: (_name, reason) => void reasons.push(reason), back: async () => {} },
    )
    const { pid } = part.current().child
    process.kill(pid, signal)
    await eventually(() => part.current().child.pid !== pid)
    t.match(reasons, ['the event loop has not responded for 2 s'])
    const { probeUrl } = part.current().addresses
    t.equal((await fetch(`${probeUrl}/healthz`)).status, 200)
    await part.stop()
  })
}
