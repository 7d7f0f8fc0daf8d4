import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '#controller/config.ts'

const least = {
  SHUTTERFLEET_NATS_URL: 'nats://127.0.0.1:4222',
  SHUTTERFLEET_WORKER_ENV: '{"A":"1"}',
  SHUTTERFLEET_PROXIED_WORKER_ENV: '{}',
}

t.test('config: by default a pool has one to four workers of one slot', (t) => {
  const config = readConfig(least)
  t.equal(config.pool, 'standard')
  t.strictSame(config.policy, {
    size: 'by-queue',
    isPaused: false,
    min: 1,
    max: 4,
    slots: 1,
    reservedSlots: 0,
    isPredicting: true,
    buffer: 0,
    idleCores: 0,
    objectivesMs: { interactive: 2000, normal: 10_000, bulk: 120_000 },
    holdMs: 30_000,
    holdsLong: false,
    zeroAfterMs: 30_000,
    startLimitMs: 60_000,
    startMaxMs: 900_000,
    drainStepMs: 5000,
  })
  t.end()
})

t.test('config: prediction can be turned off for all pools', (t) => {
  const { policy, stealthPolicy } = readConfig({ ...least, SHUTTERFLEET_POOL_PREDICTION: 'false' })
  t.strictSame([policy.isPredicting, stealthPolicy.isPredicting], [false, false])
  t.end()
})

t.test('config: the reserved slots of a pool are those of its workers', (t) => {
  const reserved = '{"SHUTTERFLEET_WORKER_RESERVED_SLOTS":"2"}'
  const config = readConfig({ ...least, SHUTTERFLEET_WORKER_ENV: reserved })
  t.strictSame([config.policy.reservedSlots, config.stealthPolicy.reservedSlots], [2, 0])
  t.equal(readConfig({ ...least, SHUTTERFLEET_STEALTH_WORKER_ENV: reserved }).stealthPolicy.reservedSlots, 2)
  t.end()
})

t.test("config: reads the workers' environment from a file", (t) => {
  const path = join(t.testdir({ 'worker.json': '{"SHUTTERFLEET_WORKER_SLOTS":"2"}\n' }), 'worker.json')
  const { SHUTTERFLEET_WORKER_ENV: _, ...rest } = least
  t.strictSame(readConfig({ ...rest, SHUTTERFLEET_WORKER_ENV_FILE: path }).workerEnv, {
    SHUTTERFLEET_WORKER_SLOTS: '2',
  })
  t.end()
})

t.test('config: the objective of a lower lane is never shorter than that of the lane above it', (t) => {
  const objectives = (waits: Readonly<Record<string, string>>) => readConfig({ ...least, ...waits }).policy.objectivesMs
  t.strictSame(objectives({ SHUTTERFLEET_POOL_QUEUE_WAIT_MS: '15000' }), {
    interactive: 15_000,
    normal: 15_000,
    bulk: 120_000,
  })
  const lower = { SHUTTERFLEET_POOL_NORMAL_QUEUE_WAIT_MS: '3000', SHUTTERFLEET_POOL_BULK_QUEUE_WAIT_MS: '3000' }
  t.strictSame(objectives(lower), { interactive: 2000, normal: 3000, bulk: 3000 })
  t.throws(() => objectives({ ...lower, SHUTTERFLEET_POOL_NORMAL_QUEUE_WAIT_MS: '1999' }), {
    message: 'SHUTTERFLEET_POOL_NORMAL_QUEUE_WAIT_MS = 1999, must be ≥ SHUTTERFLEET_POOL_QUEUE_WAIT_MS (2000)',
  })
  t.throws(() => objectives({ SHUTTERFLEET_POOL_BULK_QUEUE_WAIT_MS: '9999' }), {
    message: 'SHUTTERFLEET_POOL_BULK_QUEUE_WAIT_MS = 9999, must be ≥ SHUTTERFLEET_POOL_NORMAL_QUEUE_WAIT_MS (10000)',
  })
  t.end()
})

for (const text of ['{', '[]', 'null', '"text"', '{"A":1}']) {
  t.test(`config: rejects ${text} as the workers' environment without showing it`, (t) => {
    t.throws(() => readConfig({ ...least, SHUTTERFLEET_WORKER_ENV: text }), {
      code: 'CONFIGURATION',
      message: 'SHUTTERFLEET_WORKER_ENV = (hidden), must be a JSON object whose values are texts',
    })
    t.end()
  })
}

t.test('config: rejects a maximum below the minimum or the buffer, and reports both', (t) => {
  const env = { ...least, SHUTTERFLEET_POOL_MIN: '3', SHUTTERFLEET_POOL_MAX: '2', SHUTTERFLEET_POOL_BUFFER: '5' }
  t.throws(() => readConfig(env), {
    code: 'CONFIGURATION',
    message:
      'SHUTTERFLEET_POOL_MAX = 2, must be ≥ SHUTTERFLEET_POOL_MIN (3)\n' +
      'SHUTTERFLEET_POOL_MAX = 2, must be ≥ SHUTTERFLEET_POOL_BUFFER (5)',
  })
  t.end()
})

t.test('config: stealth workers scale from zero to their own maximum, with the timing of the pool', (t) => {
  const config = readConfig({
    ...least,
    SHUTTERFLEET_POOL_MIN: '2',
    SHUTTERFLEET_POOL_BUFFER: '1',
    SHUTTERFLEET_POOL_IDLE_CORES: '2',
    SHUTTERFLEET_STEALTH_MAX: '3',
  })
  t.strictSame(config.stealthWorkerEnv, {}, 'none by default')
  t.strictSame(config.stealthPolicy, { ...config.policy, min: 0, max: 3, buffer: 0, idleCores: 0 })
  t.end()
})
