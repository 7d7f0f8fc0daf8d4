import { once } from 'node:events'
import { chmod, chown, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { runMain } from '#shared/process/run-main.ts'
import { LanePuller } from '#shared/queue/lane-puller.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { beat } from './beat.ts'
import type { BrowserUser } from './browser-host/protocol.ts'
import { createCanary } from './canary.ts'
import { readConfig } from './config.ts'
import { createContext, createSlots, openingKeysOf } from './context.ts'
import { beginDuty } from './duty.ts'
import { createEgressRelay } from './egress-relay.ts'
import { healthOf } from './health.ts'
import { serveUntil } from './loop.ts'
import { makeOwnFolder } from './own-folder.ts'
import { createServiceTime } from './service-time.ts'

const beatMs = 1000

/** The folder of this worker, with the socket that leads its browsers to egress. */
const openFolder = async (egress: HostPort, user: BrowserUser | undefined) => {
  const folder = await makeOwnFolder(tmpdir())
  const egressPath = join(folder, 'egress.sock')
  const relay = createEgressRelay(egress)
  relay.listen(egressPath)
  await once(relay, 'listening')
  if (user) {
    // Hosts pass through the folder to their own, and reach the socket.
    await chmod(folder, 0o711)
    await chown(egressPath, user.userId, user.groupId)
  }
  return {
    folder,
    egressPath,
    [Symbol.asyncDispose]: async () => {
      relay.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const openCanary = async () => {
  const { server, heard } = createCanary()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { heard, port, [Symbol.dispose]: () => void server.close() }
}

await runMain('worker', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  const openingKeys = openingKeysOf(config)
  await using context = await createContext(config)
  await using paths = await openFolder(config.egress, context.user)
  using canary = await openCanary()
  const { queue, pod, events, metrics } = context
  const { pool } = config
  const service = createServiceTime()
  const slots = createSlots({ config, ...context }, paths, canary)
  await using _slots = {
    [Symbol.asyncDispose]: async () => void (await Promise.all(slots.map((slot) => slot[Symbol.asyncDispose]()))),
  }

  const sayHow = () => beat({ queue, pool, pod, slots: slots.length, duty }, service)
  using duty = beginDuty(stop, sayHow)
  const timer = setInterval(sayHow, beatMs)
  using _timer = { [Symbol.dispose]: () => clearInterval(timer) }
  using _drain = queue.subscribe(drainSubject({ pool, pod }), duty.drain)
  using _undrain = queue.subscribe(undrainSubject({ pool, pod }), duty.undrain)
  using puller = new LanePuller(queue, pool)
  await using probe = await startProbeServer({
    host: config.probeHost,
    port: config.probePort,
    metrics,
    health: () => healthOf({ queue, duty, slots }),
  })
  void duty.warmed.then(() => announce({ probeUrl: probe.url }))
  await serveUntil({ queue, pool, pod, openingKeys, events, puller, duty, slots }, stop, service)
})
