import type { Clock } from '#controller/kube/clock.ts'
import { startCollector } from './model-api/collector.ts'
import {
  type ClientOf,
  connectClient,
  type Exchange,
  type ModelClient,
  type RecordedWrite,
} from './model-api/connection.ts'
import type { ControllerDeps } from './model-api/controller.ts'
import { startDeployments } from './model-api/deployments.ts'
import { startJobs } from './model-api/jobs.ts'
import { ModelKubelet, type Runtime } from './model-api/kubelet.ts'
import { startPodCollector } from './model-api/pod-collector.ts'
import { ModelLists } from './model-api/reads.ts'
import { startReplicaSets } from './model-api/replica-sets.ts'
import { ModelServer } from './model-api/server.ts'
import type { StoreSnapshot } from './model-api/store.ts'

/** An in-memory Kubernetes: API server, its controllers, and one node. Clock and randomness are injected. */
export type ModelApi = {
  readonly server: ModelServer
  readonly kubelet: ModelKubelet
  /** Every write request of a client, in the order in which the server processed them. */
  readonly writes: readonly RecordedWrite[]
  /** The client whose request the server is processing; undefined while its own controllers act. */
  readonly actor: () => string | undefined
  /** Runs `run` on the server as `client`, bypassing all connections. */
  readonly inNameOf: <T>(client: string, run: () => T) => T
  readonly connect: (options: ClientOf) => ModelClient
  /** Makes the server unavailable to all clients and its own controllers, or available again. */
  readonly setAway: (isAway: boolean) => void
  /** Copies the stored objects, for `restart`. */
  readonly snapshot: () => StoreSnapshot
  /** Restarts the server on its current objects or a snapshot: connections break, the history of events is dropped. */
  readonly restart: (snapshot?: StoreSnapshot) => void
}

/** Dependencies of the model. `lagMs` is the delay until its controllers observe a change; 5 to 50 ms by default. */
export type ModelOptions = {
  readonly clock: Clock
  readonly random: () => number
  readonly runtime: Runtime
  readonly lagMs?: () => number
  /** Called right after each write. */
  readonly wrote?: (write: RecordedWrite) => void
}

/** Starts an empty in-memory Kubernetes. */
export const createModelApi = (options: ModelOptions): ModelApi => {
  const { clock, random, runtime, lagMs = () => 5 + random() * 45 } = options
  const server = new ModelServer(clock)
  const lists = new ModelLists(server.store)
  const clients: ModelClient[] = []
  const writes: RecordedWrite[] = []
  let away = false
  let actor: string | undefined
  const inNameOf: Exchange['inNameOf'] = (client, run) => {
    actor = client
    try {
      return run()
    } finally {
      actor = undefined
    }
  }
  const isAway = () => away
  const wrote = (write: RecordedWrite) => {
    writes.push(write)
    options.wrote?.(write)
  }

  const deps: ControllerDeps = { server, clock, random, isAway, lagMs }
  const kubelet = new ModelKubelet(deps, runtime)
  const controllers = [
    startDeployments(deps),
    startReplicaSets(deps),
    startJobs(deps),
    ...startCollector(deps),
    kubelet,
  ]
  startPodCollector(deps)
  const enqueueAll = () => {
    for (const controller of controllers) controller.enqueueAll()
  }
  const reset = () => {
    for (const client of clients) client.reset()
  }

  return {
    server,
    kubelet,
    writes,
    actor: () => actor,
    inNameOf,
    connect: (clientOptions) => {
      const client = connectClient({ server, lists, clock, random, isAway, inNameOf, wrote }, clientOptions)
      clients.push(client)
      return client
    },
    setAway: (isGone) => {
      away = isGone
      if (isGone) reset()
      else enqueueAll()
    },
    snapshot: () => server.store.snapshot(),
    restart: (snapshot) => {
      reset()
      lists.forget()
      if (snapshot) server.store.restore(snapshot)
      else server.store.forget()
      enqueueAll()
    },
  }
}
