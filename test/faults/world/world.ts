import type { Logger } from '#shared/telemetry/logger.ts'
import { lanes, type Pool, pools } from '#shared/capture/lane.ts'
import { browserPools, type BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import { capturesStream, laneConsumerName } from '#shared/queue/topology.ts'
import { createHandClock, type HandClock } from '#test/helpers/hand-clock.ts'
import { createModelApi, type ModelApi } from '#test/helpers/model-api.ts'
import type { RecordedWrite } from '#test/helpers/model-api/connection.ts'
import type { Runtime } from '#test/helpers/model-api/kubelet.ts'
import type { Stored } from '#test/helpers/model-api/object.ts'
import { seededRandom } from '#cli/simulation/random.ts'
import { type ClockFault, createProcess } from '#test/helpers/simulated-process.ts'
import { type PodObject, workerSpecOf } from '#test/helpers/worker-pod-object.ts'
import { Audit } from './audit.ts'
import { type Bus, createBus } from './bus.ts'
import { CaptureStream } from './capture-stream.ts'
import { SimulatedLedger } from './ledger.ts'
import type { Interceptors } from './interceptors.ts'
import { Nodes, type NodesOptions } from './nodes.ts'
import { type Replica, startReplica } from './replica.ts'
import { SimulatedWorker, type WorkerEvents } from './worker.ts'

/** A simulated Kubernetes, queue, ledger, workers and controllers on one clock. Dispose kills the controllers. */
export type World = Disposable & {
  readonly clock: HandClock
  /** The world's random numbers; a fault has its own generator. */
  readonly random: () => number
  readonly model: ModelApi
  readonly bus: Bus
  readonly stream: CaptureStream
  readonly ledger: SimulatedLedger
  readonly audit: Audit
  readonly replicas: Replica[]
  /** Starts one more controller. */
  readonly addReplica: (clockFault?: ClockFault) => Replica
  /** The running controller that holds the Lease. */
  readonly leader: () => Replica | undefined
  /** Waiting reasons of containers by pool, such as ImagePullBackOff: while set, no container of the pool starts. */
  readonly troubles: Map<Pool, string>
  readonly nodes: Nodes
  /** Running workers, whatever the state of their pods. */
  readonly workers: () => readonly SimulatedWorker[]
  /** Kills all nodes of a zone. */
  readonly loseZone: (zone: string) => void
}

/** Options of a world. */
export type WorldOptions = {
  readonly seed: number
  /** Receives the log of the controllers. */
  readonly log?: (atMs: number, replica: string, words: readonly unknown[]) => void
  readonly clockFaults?: readonly ClockFault[]
  readonly interceptors?: Interceptors
  readonly nodes?: NodesOptions
  /** Delay until Kubernetes' controllers observe a change; 5 to 50 ms by default. */
  readonly lagMs?: () => number
  /** BrowserPools by name; replaces the default two. */
  readonly pools?: Readonly<Record<string, WantedSpec>>
}

export type WantedSpec = { readonly [K in keyof BrowserPoolSpec]?: Partial<BrowserPoolSpec[K]> }

const namespace = 'default'
const replicasCount = 2
const proxiedWaitMs = 120_000
const usualNodes: NodesOptions = { zones: ['a'], room: 40 }
const startMs = { least: 1000, spread: 4000 }

const usualPools: Readonly<Record<string, WantedSpec>> = {
  standard: {
    pool: 'standard',
    autoscaling: { minReplicas: 1, maxReplicas: 6, slots: 2 },
    scaleDown: { stabilizationWindowSeconds: 4, periodSeconds: 1 },
  },
  proxied: { pool: 'proxied', jobs: { max: 6, spares: 1, spareSeconds: 60, ttlSecondsAfterFinished: 20 } },
}

const listConsumers = `$JS.API.CONSUMER.LIST.${capturesStream.name}`

/** Returns JetStream's responses about its consumers; those of all lanes as of one. */
const jetStreamOf = (stream: CaptureStream) => (subject: string) => {
  if (subject !== listConsumers) return {}
  const consumers = pools.flatMap((pool) =>
    lanes.map((lane) => {
      const { waiting, inFlight } = lane === 'interactive' ? stream.depth(pool) : { waiting: 0, inFlight: 0 }
      return { name: laneConsumerName(pool, lane), num_pending: waiting, num_ack_pending: inFlight }
    }),
  )
  const type = 'io.nats.jetstream.api.v1.consumer_list_response'
  return { type, total: consumers.length, offset: 0, limit: 256, consumers }
}

/** Creates a BrowserPool as a user. */
export const createPool = ({ model }: Pick<World, 'model'>, name: string, spec = usualPools[name] ?? {}): Stored => {
  const { apiVersion, kind, plural } = browserPools
  const object = { apiVersion, kind, metadata: { name }, spec }
  return model.server.create(model.server.kind(`${apiVersion}/${plural}`), namespace, object, 'person')
}

/** The container runtime: runs all simulated workers in one simulated process. */
const createRuntime = (
  parts: Pick<World, 'clock' | 'random' | 'bus' | 'stream' | 'ledger' | 'nodes'>,
  { acknowledgesEarly = false }: Interceptors,
  world: () => World,
) => {
  const { clock, random, bus, stream, ledger } = parts
  const workers = new Map<string, SimulatedWorker>()
  /** Workers by pod and by the name in their heartbeats, which is the Job's for single-use workers. */
  const named = new Map<string, SimulatedWorker>()
  const process = createProcess({ name: 'node', clock, random })
  const queue = bus.connect(process)
  const running = () => [...workers.values()].filter(({ isAlive }) => isAlive)
  const events: WorkerEvents = {
    begun: (id) => {
      ledger.begun(id)
      const others = running().filter(({ lifecycle }) => lifecycle.captures().includes(id))
      if (others.length > 0) world().audit.note('twice', `${id} is served by ${others.length} others`)
    },
    completed: (id) => ledger.completed(id),
  }
  const specOf = (pod: object) => workerSpecOf(pod as PodObject)
  const runtime: Runtime = {
    startMs: () => startMs.least + random() * startMs.spread,
    place: (pod, beside) => parts.nodes.place(pod, beside),
    trouble: (pod) => world().troubles.get(specOf(pod).pool),
    start: (pod, containerEvents) => {
      const spec = specOf(pod)
      const deps = { clock: process.clock, random, queue, stream, events, acknowledgesEarly }
      const worker = process.run(() => new SimulatedWorker(deps, spec, containerEvents))
      workers.set(spec.pod, worker)
      named.set(spec.pod, worker).set(spec.worker, worker)
      return { stop: () => process.run(worker.stop), kill: () => process.run(worker.kill) }
    },
  }
  return { runtime, running, workerOf: (name: string) => named.get(name) }
}

/** Creates a world and starts two controllers. */
export const createWorld = (options: WorldOptions): World => {
  const { seed, log = () => {}, clockFaults = [], interceptors = {}, pools: specs = usualPools } = options
  const random = seededRandom(seed)
  const clock = createHandClock({ turns: 1 })
  const stream = new CaptureStream(clock)
  const bus = createBus(clock, jetStreamOf(stream))
  const ledger = new SimulatedLedger({ clock, bus, stream }, proxiedWaitMs)
  const nodes = new Nodes({ clock, random }, options.nodes ?? usualNodes)
  const parts = { clock, random, bus, stream, ledger, nodes }
  const node = createRuntime(parts, interceptors, () => world)
  const wrote = (write: RecordedWrite) => world.audit.wrote(write)
  const model = createModelApi({
    clock,
    random,
    wrote,
    runtime: node.runtime,
    ...(options.lagMs && { lagMs: options.lagMs }),
  })
  const replicas: Replica[] = []
  const world: World = {
    ...parts,
    model,
    audit: new Audit({ clock, model, ledger, workerOf: node.workerOf, running: node.running }),
    replicas,
    addReplica: (clockFault) => {
      const name = `controller-${replicas.length + 1}`
      const write = (...words: readonly unknown[]) => log(clock.nowMs(), name, words)
      const logger: Logger = { debug: write, info: write, warn: write, error: write }
      const published = (client: string, subject: string) => world.audit.published(client, subject)
      const replica = startReplica({ clock, random, model, bus, published, logger, interceptors }, name, clockFault)
      replicas.push(replica)
      return replica
    },
    leader: () => {
      const holder = world.audit.holder()
      return replicas.find(({ process }) => process.name === holder && process.isAlive())
    },
    troubles: new Map(),
    workers: node.running,
    loseZone: (zone) => {
      for (const name of nodes.cordon(zone)) model.kubelet.loseNode(name)
    },
    [Symbol.dispose]: () => {
      for (const { kill } of replicas) kill()
    },
  }
  for (const [name, spec] of Object.entries(specs)) createPool(world, name, spec)
  for (let count = 0; count < replicasCount; count += 1) world.addReplica(clockFaults[count])
  return world
}
