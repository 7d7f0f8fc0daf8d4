import { lanes, type Pool, pools } from '#shared/capture/lane.ts'
import {
  backlogSubject,
  heartbeatFilter,
  heartbeatSubject,
  captureFilter,
  decisionSubject,
  drainSubject,
  eventFilter,
  relayWakeupSubject,
  poolWakeupSubject,
  poolStateSubject,
  poolReportFilters,
  probeFilter,
  signFilter,
  resultFilter,
  startedFilter,
  undrainSubject,
} from './subjects.ts'
import { capturesStream, laneConsumerName, ledgerConsumer, resultsStream } from './topology.ts'

/** A user of NATS: a person with the `nats` tool, a service, or the workers of one pool. */
export type QueueUserName = 'operator' | 'gateway' | 'ledger' | 'controller' | `worker_${Pool}`

/** What one user may publish and subscribe to. The server rejects everything else. */
export type QueueUser = {
  readonly name: QueueUserName
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
  /** Whether it may respond once to each request that it receives. */
  readonly responds?: boolean
}

/**
 * The account of one pool's workers. It shares nothing with the services' account but these subjects, and a response goes
 * only where the requesting account may publish: the server checks what a user publishes, not the reply subject it sets.
 */
export type PoolAccount = {
  readonly name: string
  readonly user: QueueUser
  /** Subjects of requests that get any number of responses. */
  readonly pulls: readonly string[]
  /** All other subjects that the workers publish to; at most one response. */
  readonly publishes: readonly string[]
  /** Subjects of the services' account that the workers subscribe to. */
  readonly subscribes: readonly string[]
}

const any = '*'
const everything = '>'
const api = '$JS.API'
/** The first request of JetStream's management API. It returns limits and usage, no messages. */
const accountInfo = `${api}.INFO`
const streams = [capturesStream.name, resultsStream.name]
const acks = (stream: string, consumer: string) => `$JS.ACK.${stream}.${consumer}.>`

/** Inboxes of a user's connections. No other user may subscribe to them. */
export const userInboxPrefix = (name: QueueUserName): string => `_INBOX_${name}`

const user = (name: QueueUserName, may: Omit<QueueUser, 'name'>): QueueUser => ({
  ...may,
  name,
  subscribe: [...may.subscribe, `${userInboxPrefix(name)}.>`],
})

/** Workers run hostile pages: they may pull captures of their own pool, report, read reports back, and request addresses for images; nothing else. */
const poolAccount = (pool: Pool): PoolAccount => {
  const consumers = lanes.map((lane) => laneConsumerName(pool, lane))
  const reports = poolReportFilters(pool)
  const rights = {
    pulls: consumers.map((consumer) => `${api}.CONSUMER.MSG.NEXT.${capturesStream.name}.${consumer}`),
    publishes: [
      ...consumers.map((consumer) => acks(capturesStream.name, consumer)),
      ...reports.flatMap((report) => [report, `${api}.DIRECT.GET.${resultsStream.name}.${report}`]),
      heartbeatSubject({ pool, pod: any }),
      signFilter(pool),
    ],
    subscribes: [drainSubject({ pool, pod: any }), undrainSubject({ pool, pod: any })],
  }
  const workers = user(`worker_${pool}`, {
    publish: [...rights.pulls, ...rights.publishes],
    subscribe: rights.subscribes,
  })
  return { name: `WORKERS_${pool}`, user: workers, ...rights }
}

const operator: QueueUser = { name: 'operator', publish: [everything], subscribe: [everything] }

const gateway = user('gateway', {
  publish: [
    captureFilter(),
    probeFilter(capturesStream.name),
    relayWakeupSubject,
    ...pools.map(poolWakeupSubject),
    accountInfo,
    ...streams.map((stream) => `${api}.STREAM.INFO.${stream}`),
  ],
  // The last three for operators in the console.
  subscribe: [
    eventFilter(),
    resultFilter,
    ...[signFilter, decisionSubject, heartbeatFilter, backlogSubject].flatMap((of) => pools.map(of)),
  ],
  responds: true,
})

/** The ledger alone creates and repairs streams and deletes their messages. */
const ledger = user('ledger', {
  publish: [
    `${api}.>`,
    acks(resultsStream.name, ledgerConsumer.durable_name),
    captureFilter(),
    ...streams.map(probeFilter),
    eventFilter(),
    ...pools.flatMap((pool) => [backlogSubject(pool), poolWakeupSubject(pool)]),
  ],
  subscribe: [relayWakeupSubject, ...pools.flatMap((pool) => [poolStateSubject(pool), poolWakeupSubject(pool)])],
})

const controller = user('controller', {
  publish: [
    accountInfo,
    `${api}.CONSUMER.LIST.${capturesStream.name}`,
    ...pools.flatMap((pool) => [
      drainSubject({ pool, pod: any }),
      undrainSubject({ pool, pod: any }),
      poolStateSubject(pool),
      decisionSubject(pool),
    ]),
  ],
  subscribe: pools.flatMap((pool) => [
    heartbeatFilter(pool),
    startedFilter(pool),
    poolWakeupSubject(pool),
    backlogSubject(pool),
  ]),
})

/** Name of the account that owns both streams and all subjects. */
export const servicesAccount = 'SERVICES'

/** The users of the services' account. */
export const serviceUsers: readonly QueueUser[] = [operator, gateway, ledger, controller]

/** The account of each pool. */
export const poolAccounts: readonly PoolAccount[] = pools.map(poolAccount)

/** Every user of Shutterfleet's NATS server, with its permissions. */
export const queueUsers: readonly QueueUser[] = [...serviceUsers, ...poolAccounts.map((account) => account.user)]
