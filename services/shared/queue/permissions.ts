import { lanes, type Pool, pools } from '#shared/capture/lane.ts'
import {
  backlogSubject,
  beatFilter,
  beatSubject,
  captureFilter,
  drainSubject,
  eventFilter,
  nudgeSubject,
  pokeSubject,
  reportFilters,
  resultFilter,
  undrainSubject,
} from './subjects.ts'
import { capturesStream, laneConsumerName, ledgerConsumer, resultsStream } from './topology.ts'

/** A user of NATS: a person with the `nats` tool, a service, or the workers of one pool. */
export type QueueUserName = 'operator' | 'gateway' | 'ledger' | 'controller' | `worker_${Pool}`

/** What one user may publish and hear. The server refuses everything else. */
export type QueueUser = {
  readonly name: QueueUserName
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

const any = '*'
const everything = '>'
const api = '$JS.API'
/** What JetStream's management interface asks first. It tells limits and usage, no messages. */
const accountInfo = `${api}.INFO`
const streams = [capturesStream.name, resultsStream.name]
const acks = (stream: string, consumer: string) => `$JS.ACK.${stream}.${consumer}.>`

/** Where answers to a user's connections arrive. No other user may hear them. */
export const inboxPrefixOf = (name: QueueUserName): string => `_INBOX_${name}`

const user = (name: QueueUserName, may: { publish: readonly string[]; subscribe: readonly string[] }): QueueUser => ({
  name,
  publish: may.publish,
  subscribe: [...may.subscribe, `${inboxPrefixOf(name)}.>`],
})

/** Workers run hostile pages: they take captures of their own pool, report, and read back reports; nothing else. */
const worker = (pool: Pool): QueueUser =>
  user(`worker_${pool}`, {
    publish: [
      ...lanes.flatMap((lane) => [
        `${api}.CONSUMER.MSG.NEXT.${capturesStream.name}.${laneConsumerName(pool, lane)}`,
        acks(capturesStream.name, laneConsumerName(pool, lane)),
      ]),
      ...reportFilters.flatMap((subject) => [subject, `${api}.DIRECT.GET.${resultsStream.name}.${subject}`]),
      beatSubject({ pool, pod: any }),
    ],
    subscribe: [drainSubject({ pool, pod: any }), undrainSubject({ pool, pod: any })],
  })

const operator: QueueUser = { name: 'operator', publish: [everything], subscribe: [everything] }

const gateway = user('gateway', {
  publish: [
    captureFilter(),
    nudgeSubject,
    ...pools.map(pokeSubject),
    accountInfo,
    ...streams.map((stream) => `${api}.STREAM.INFO.${stream}`),
  ],
  subscribe: [eventFilter, resultFilter],
})

/** The ledger alone creates, repairs and purges streams. */
const ledger = user('ledger', {
  publish: [
    `${api}.>`,
    acks(resultsStream.name, ledgerConsumer.durable_name),
    captureFilter(),
    eventFilter,
    ...pools.flatMap((pool) => [backlogSubject(pool), pokeSubject(pool)]),
  ],
  subscribe: [nudgeSubject],
})

const controller = user('controller', {
  publish: [
    accountInfo,
    `${api}.CONSUMER.INFO.${capturesStream.name}.*`,
    ...pools.flatMap((pool) => [drainSubject({ pool, pod: any }), undrainSubject({ pool, pod: any })]),
  ],
  subscribe: pools.flatMap((pool) => [beatFilter(pool), pokeSubject(pool), backlogSubject(pool)]),
})

/** Every user that a NATS server of Shutterfleet has, with what each may do. */
export const queueUsers: readonly QueueUser[] = [operator, gateway, ledger, controller, ...pools.map(worker)]
