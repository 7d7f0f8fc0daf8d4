import t from 'tap'
import {
  type ControllerProcess,
  endController,
  type PoolWorld,
  startController,
  startPoolWorld,
} from '#test/helpers/controlled-pool.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { testProgramPath } from '#test/helpers/test-program-path.ts'

const fast = {
  POOL_MIN: '1',
  POOL_MAX: '4',
  POOL_TICK_MS: '100',
  POOL_QUEUE_WAIT_MS: '200',
  POOL_HOLD_SECONDS: '1',
  POOL_DRAIN_STEP_SECONDS: '1',
}
const realMain = testProgramPath('controller/main')

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const alive = ({ heartbeats }: PoolWorld) => [...heartbeats.values()].filter(({ pid }) => isAlive(pid))
const isDone = async (world: PoolWorld) => {
  const { waiting, inFlight } = await world.depth()
  return waiting + inFlight === 0
}
const shows = (controller: ControllerProcess, detail: Record<string, string>) =>
  eventually(
    async () => {
      const shown = (await controller.health()).detail
      return Object.entries(detail).every(([key, value]) => shown[key] === value)
    },
    { what: JSON.stringify(detail) },
  )

t.test('controller: scales a pool of real processes', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const controller = await startController(world, fast)
  t.teardown(() => endController(controller, 'SIGKILL'))

  await t.test('controller: starts the minimum', async (t) => {
    await shows(controller, { ready: '1', desired: '1', busy: '0', queue: '0', reason: 'steady', connected: 'true' })
    t.equal((await controller.health()).ready, true)
  })

  await t.test('controller: starts at least three workers for a backlog, and serves all of it', async (t) => {
    await world.send(40)
    await eventually(() => alive(world).length >= 3)
    await eventually(() => isDone(world))
    t.ok(alive(world).length <= 4)
  })

  await t.test('controller: drains and stops surplus workers once the backlog is served', async () => {
    await shows(controller, { ready: '1', reason: 'steady' })
    await eventually(() => alive(world).length === 1)
  })

  await t.test('controller: replaces a worker that was killed', async (t) => {
    const [victim] = alive(world)
    process.kill(victim!.pid, 'SIGKILL')
    await eventually(() => alive(world).some(({ pod }) => pod !== victim!.pod))
    t.equal(alive(world).length, 1)
  })

  await t.test('controller: holds the pool while the ledger sends no counts', async (t) => {
    world.setCounting(false)
    await shows(controller, { reason: 'backlog-unknown', ready: '1' })
    t.equal((await controller.health()).ready, false)
    world.setCounting(true)
    await shows(controller, { reason: 'steady', ready: '1' })
  })

  await t.test('controller: keeps its workers over a restart of NATS', async (t) => {
    const before = alive(world).map(({ pid }) => pid)
    await world.nats.restart()
    await eventually(() => world.send(1).then(() => true))
    await eventually(() => isDone(world))
    await shows(controller, { connected: 'true', reason: 'steady', ready: '1' })
    t.strictSame(
      alive(world).map(({ pid }) => pid),
      before,
    )
  })

  await t.test('controller: exports its state as metrics', async (t) => {
    const text = await (await fetch(`${controller.probeUrl}/metrics`)).text()
    const pool = 'queue="standard",browserpool="standard"'
    for (const line of [
      `pool_workers{${pool},state="ready",component="controller"} 1`,
      `pool_workers_desired{${pool},component="controller"} 1`,
      `pool_decisions_total{${pool},decision="drain",reason="excess",component="controller"} `,
      `pool_worker_start_seconds_count{component="controller",${pool}} `,
    ])
      t.match(text, `shutterfleet_${line}`)
  })

  await t.test('controller: on SIGTERM lets running captures finish, and leaves no worker behind', async (t) => {
    await world.send(1)
    await eventually(() => alive(world).some(({ busy }) => busy === 1))
    t.equal(await endController(controller, 'SIGTERM'), 0)
    t.strictSame(alive(world), [])
    t.ok(await isDone(world))
  })
})

t.test('controller: replaces a hung worker, which ends once it runs again', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const controller = await startController(world, fast)
  t.teardown(() => endController(controller, 'SIGTERM'))
  await shows(controller, { ready: '1' })
  const [victim] = alive(world)
  process.kill(victim!.pid, 'SIGSTOP')
  await eventually(() => alive(world).some(({ pod }) => pod !== victim!.pod), { withinMs: 20_000 })
  t.equal(alive(world).length, 2)
  process.kill(victim!.pid, 'SIGCONT')
  await eventually(() => alive(world).length === 1)
  t.equal(isAlive(victim!.pid), false)
})

t.test('controller: scales from zero to what the backlog needs, and back to zero', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const controller = await startController(world, { ...fast, POOL_MIN: '0' })
  t.teardown(() => endController(controller, 'SIGTERM'))
  await shows(controller, { ready: '0', desired: '0', reason: 'steady' })
  await world.send(1)
  await eventually(() => isDone(world))
  t.equal(world.heartbeats.size, 1, 'one worker for one capture')
  await eventually(() => alive(world).length === 0)
})

t.test('controller: sizes the stealth pool by its own queue, from zero and back to zero', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const worker = {
    SHUTTERFLEET_NATS_URL: world.urlOf('worker_stealth'),
    STAND_IN_POOL: 'stealth',
    STAND_IN_MODE: 'serve',
    STAND_IN_SERVICE_MS: '300',
  }
  const controller = await startController(world, {
    ...fast,
    STEALTH_WORKER_ENV: JSON.stringify(worker),
    STEALTH_MAX: '2',
  })
  t.teardown(() => endController(controller, 'SIGTERM'))
  const served = (pool: string) => [...world.heartbeats.values()].filter((heartbeat) => heartbeat.pool === pool)
  await shows(controller, { ready: '1', reason: 'steady', stealthWorkers: '0', stealthWaiting: '0' })
  t.strictSame(served('stealth'), [], 'none without stealth captures')
  await world.send(12, 'stealth')
  await eventually(async () => {
    const { waiting, inFlight } = await world.depth('stealth')
    return waiting + inFlight === 0
  })
  t.equal(served('stealth').length, 2, 'as many as allowed')
  t.equal(served('standard').length, 1, 'no more standard workers')
  await shows(controller, { ready: '1', stealthWorkers: '0' })
  await eventually(() => alive(world).every(({ pool }) => pool === 'standard'))
})

t.test('controller: its workers end when the controller is killed', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const controller = await startController(world, { ...fast, POOL_MIN: '2' })
  t.teardown(() => endController(controller, 'SIGKILL'))
  await eventually(() => alive(world).length === 2)
  await endController(controller, 'SIGKILL')
  await eventually(() => alive(world).length === 0)
})

t.test('controller: backs off while workers end at their start', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const env = JSON.stringify({ STAND_IN_MODE: 'end-at-start' })
  const controller = await startController(world, { ...fast, WORKER_ENV: env })
  t.teardown(() => endController(controller, 'SIGTERM'))
  await shows(controller, { reason: 'crash-looping', ready: '0' })
})

t.test('controller: the real main serves its probes, and exits with 0 on SIGTERM', async (t) => {
  const world = await startPoolWorld()
  t.teardown(() => world[Symbol.asyncDispose]())
  const controller = await startController(world, { POOL_MIN: '0' }, realMain)
  t.teardown(() => endController(controller, 'SIGKILL'))
  await shows(controller, { ready: '0', reason: 'steady' })
  t.equal((await fetch(`${controller.probeUrl}/livez`)).status, 200)
  t.equal(await endController(controller, 'SIGTERM'), 0)
})
