import { isDeepStrictEqual } from 'node:util'
import {
  JetStreamApiError,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream'
import { byLane, type Lane, lanes, type Pool } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from './connection.ts'
import { manage } from './stored.ts'
import { parseCaptureId } from './subjects.ts'
import {
  capturesStream,
  laneConsumerName,
  laneConsumers,
  ledgerConsumer,
  resultsMaxBytes,
  resultsStream,
} from './topology.ts'

const streamMissing = 10_059
/** JetStream's error code of "insufficient storage resources available": the limits of all streams exceed that of the server. */
const storageExceeded = 10_047

/** Default number of a stream's replicas on a cluster: the fewest that survive the loss of one. */
const clusterReplicas = 3

type Declared = Partial<StreamConfig> & { readonly name: string }

/** The configuration of a stream; undefined if it does not exist. */
const findStream = async ({ streams }: JetStreamManager, name: string): Promise<StreamInfo | undefined> => {
  try {
    return await streams.info(name)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === streamMissing) return undefined
    throw error
  }
}

/**
 * Creates a stream, or updates it if it differs: a server whose disk has shrunk refuses every update. `initial` applies only on
 * creation, so that later changes by an operator are kept.
 */
const declareStream = async (manager: JetStreamManager, declared: Declared, initial: Partial<StreamConfig> = {}) => {
  const config: object | undefined = (await findStream(manager, declared.name))?.config
  if (config === undefined) await manager.streams.add({ ...initial, ...declared })
  else if (!isDeepStrictEqual({ ...config, ...declared }, config)) await manager.streams.update(declared.name, declared)
}

/** Adds advice to the error of a server that refuses for lack of storage. */
const explainRefusal = (cause: unknown, resultsBytes: number): never => {
  if (!(cause instanceof JetStreamApiError) || cause.code !== storageExceeded) throw cause
  const need = `${Math.ceil(resultsBytes / 1024 ** 2)} MiB for the stream ${resultsStream.name}`
  const publicMessage = `NATS refuses ${need}: its max_file_store is too small, by default 75 % of the disk space that was free at its start. Free space on the disk of its store_dir and restart it, raise max_file_store, or set a smaller SHUTTERFLEET_RESULTS_MAX_BYTES`
  throw new AppError('CONFIGURATION', { publicMessage, cause })
}

/** As `declareStream`, with three replicas; if the cluster has no room for them, keeps the current number, or creates one. */
const declareReplicas = async (manager: JetStreamManager, declared: Declared, initial: Partial<StreamConfig> = {}) => {
  const found = await findStream(manager, declared.name)
  if ((found?.config.num_replicas ?? 0) >= clusterReplicas) return declareStream(manager, declared, initial)
  try {
    await declareStream(manager, { ...declared, num_replicas: clusterReplicas }, initial)
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error
    await declareStream(manager, declared, initial)
  }
}

const asConsumer = (declared: object) => declared as Partial<ConsumerConfig>
const asStream = (declared: object) => declared as Declared

/** Which pool no worker pulls from, until a time in ISO 8601 UTC; null: until it is resumed. */
type Pause = { readonly pool: Pool; readonly until: string | null }

/** JetStream pauses a consumer only until a time. */
const withoutEnd = new Date('2200-01-01T00:00:00Z')

const pausedUntil = (consumer: string, pauses: readonly Pause[]): Date | undefined => {
  const pause = pauses.find(({ pool }) => lanes.some((lane) => laneConsumerName(pool, lane) === consumer))
  if (!pause) return undefined
  return pause.until === null ? withoutEnd : new Date(pause.until)
}

/** Options of `declareStreams`. */
type DeclareOptions = {
  readonly maxBytes?: number
  readonly replicas?: number
  readonly pauses?: () => Promise<readonly Pause[]>
}

/**
 * Creates the consumers of a stream, and updates those that an earlier release has declared otherwise, which keeps whether they
 * are paused. A new one is paused from the beginning if `pauses`, which is called only then, contains it.
 */
const declareConsumers = async (
  { consumers }: JetStreamManager,
  { stream, declared }: { readonly stream: string; readonly declared: readonly { readonly durable_name: string }[] },
  pauses: () => Promise<readonly Pause[]> = async () => [],
) => {
  const found = await Array.fromAsync(consumers.list(stream))
  for (const consumer of declared) {
    const name = consumer.durable_name
    const config: object | undefined = found.find((each) => each.name === name)?.config
    if (config === undefined) {
      const pause_until = pausedUntil(name, await pauses())?.toISOString()
      await consumers.add(stream, asConsumer({ ...consumer, ...(pause_until && { pause_until }) }))
    } else if (!isDeepStrictEqual({ ...config, ...consumer }, config))
      await consumers.update(stream, name, asConsumer(consumer))
  }
}

/**
 * Creates or repairs both streams and all consumers; only the ledger calls it. `maxBytes`: size of the results stream; 0 keeps
 * the current one. `replicas`: of both streams; 0 means three on a cluster with room for them, and keeps a larger number.
 * `pauses`: of pools whose new consumers begin paused.
 */
export const declareStreams = async (
  queue: Queue,
  { maxBytes = 0, replicas = 0, pauses }: DeclareOptions = {},
): Promise<void> => {
  const manager = await manage(queue)
  const declare = replicas === 0 && isClustered(queue) ? declareReplicas : declareStream
  const copies = replicas > 0 ? { num_replicas: replicas } : {}
  const size = { ...copies, ...(maxBytes > 0 && { max_bytes: maxBytes }) }
  try {
    await declare(manager, asStream({ ...capturesStream, ...copies }))
    await declare(manager, asStream({ ...resultsStream, ...size }), { max_bytes: resultsMaxBytes })
  } catch (error) {
    explainRefusal(error, maxBytes || resultsMaxBytes)
  }
  await declareConsumers(manager, { stream: capturesStream.name, declared: laneConsumers }, pauses)
  await declareConsumers(manager, { stream: resultsStream.name, declared: [ledgerConsumer] })
}

/**
 * Pauses the lanes of these pools and resumes all others: the server then delivers none of their captures to any worker, and
 * redelivers none; acknowledgements count as before. It keeps this when it restarts. Missing consumers are skipped. `reread`:
 * reads the pauses again before a resume, because another ledger may have applied a newer one. Returns the pools whose
 * consumers are all paused.
 */
export const pausePools = async (
  queue: Queue,
  pauses: readonly Pause[],
  reread: () => Promise<readonly Pause[]>,
): Promise<readonly Pool[]> => {
  const { consumers } = await manage(queue)
  const found = await Array.fromAsync(consumers.list(capturesStream.name))
  for (const { name, paused = false, config } of found) {
    const until = pausedUntil(name, pauses)
    if (until && (!paused || Date.parse(config.pause_until ?? '') !== until.getTime()))
      await consumers.pause(capturesStream.name, name, until)
    else if (!until && paused && !pausedUntil(name, await reread())) await consumers.resume(capturesStream.name, name)
  }
  const names = new Set(found.map(({ name }) => name))
  const isWhole = (pool: Pool) => lanes.every((lane) => names.has(laneConsumerName(pool, lane)))
  return pauses.map(({ pool }) => pool).filter(isWhole)
}

const isClustered = ({ connection }: Pick<Queue, 'connection'>): boolean => connection.info?.cluster !== undefined

/** State of a stream on the server. */
export type StreamState = {
  readonly name: string
  readonly replicas: number
  /** Sequence of the newest message ever stored; it decreases only if messages are lost. */
  readonly lastSequence: number
}

/** Returns both streams, without those that do not exist. Throws if the server does not respond. */
export const readStreams = async (queue: Queue): Promise<readonly StreamState[]> => {
  const manager = await manage(queue)
  const found = await Promise.all([capturesStream, resultsStream].map(({ name }) => findStream(manager, name)))
  return found
    .filter((stream) => stream !== undefined)
    .map(({ config, state }) => ({
      name: config.name,
      replicas: config.num_replicas,
      lastSequence: state.last_seq,
    }))
}

/** Whether a stream of a cluster has fewer replicas than `declareStreams` with these `replicas` sets. */
export const lacksCopies = (queue: Queue, streams: readonly StreamState[], replicas: number): boolean =>
  isClustered(queue) && streams.some((stream) => stream.replicas < (replicas || clusterReplicas))

/** Whether all consumers of both streams exist. Throws if the server does not respond. */
export const consumersExist = async (queue: Queue): Promise<boolean> => {
  const { consumers } = await manage(queue)
  const listNames = async (stream: string) => (await Array.fromAsync(consumers.list(stream))).map(({ name }) => name)
  const names = new Set((await Promise.all([capturesStream.name, resultsStream.name].map(listNames))).flat())
  return [...laneConsumers, ledgerConsumer].every((consumer) => names.has(consumer.durable_name))
}

/** The server's `max_payload` in bytes. */
export const serverMaxPayload = ({ connection }: Pick<Queue, 'connection'>): number =>
  connection.info?.max_payload ?? Infinity

/**
 * Counts a pool's stored messages that no worker holds (`waiting`, also by lane) and that one holds, in one request for all lanes, and whether
 * it is paused. Throws if the server does not respond: unknown is not zero.
 */
export const poolDepth = async (
  queue: Queue,
  pool: Pool,
): Promise<{
  waiting: number
  inFlight: number
  waitingByLane: Readonly<Record<Lane, number>>
  isPaused?: boolean
}> => {
  const { consumers } = await manage(queue)
  const names = lanes.map((lane) => laneConsumerName(pool, lane))
  const all = await Array.fromAsync(consumers.list(capturesStream.name))
  const infos = all.filter(({ name }) => names.includes(name))
  if (infos.length < names.length) {
    throw new AppError('SERVICE_UNAVAILABLE', { message: `consumers of pool ${pool} are missing` })
  }
  return {
    waiting: infos.reduce((sum, info) => sum + info.num_pending, 0),
    waitingByLane: byLane((lane) => infos.find(({ name }) => name === laneConsumerName(pool, lane))?.num_pending ?? 0),
    inFlight: infos.reduce((sum, info) => sum + info.num_ack_pending, 0),
    ...(infos.some(({ paused }) => paused === true) && { isPaused: true }),
  }
}

/** Counts the reports that no ledger has acknowledged yet. Throws if the server does not respond. */
export const unreadReports = async (queue: Queue): Promise<number> => {
  const manager = await manage(queue)
  const info = await manager.consumers.info(resultsStream.name, ledgerConsumer.durable_name)
  return info.num_pending + info.num_ack_pending
}

/**
 * Sequence of the newest report, and of the newest up to which ledgers have acknowledged all. Throws if the server does not
 * respond.
 */
export const reportPositions = async (queue: Queue): Promise<{ newest: number; read: number }> => {
  const { streams, consumers } = await manage(queue)
  const { state } = await streams.info(resultsStream.name)
  const info = await consumers.info(resultsStream.name, ledgerConsumer.durable_name)
  const isAllRead = info.num_pending + info.num_ack_pending === 0
  return { newest: state.last_seq, read: isAllRead ? state.last_seq : info.ack_floor.stream_seq }
}

/** Share of the results stream's size limit that unread reports take, 0 to 1. Throws if the server does not respond. */
export const unreadShare = async (queue: Queue, unread: number): Promise<number> => {
  const manager = await manage(queue)
  const { config, state } = await manager.streams.info(resultsStream.name)
  if (state.messages === 0 || config.max_bytes <= 0) return 0
  return Math.min(1, ((unread / state.messages) * state.bytes) / config.max_bytes)
}

/** Bound on the messages that one call deletes; a capture that was handed back for hours has reported more, and the call is repeated. */
const subjectMessagesMax = 1000

/** Deletes a message, which may be gone already. */
export const deleteMessage = async (queue: Queue, stream: string, sequence: number): Promise<void> => {
  const { streams } = await manage(queue)
  try {
    await streams.deleteMessage(stream, sequence, false)
  } catch (error) {
    // The server has several errors for it.
    if (await streams.getMessage(stream, { seq: sequence })) throw error
  }
}

/**
 * Deletes the messages of a subject, in flight or not, and frees the subject; with `upTo` only while the newest has at most
 * that sequence. One by one: a purge by subject advances the consumer's ack floor beyond other messages that are in flight,
 * which are then never redelivered (nats-server issue 5727).
 */
export const deleteMessages = async (queue: Queue, stream: string, subject: string, upTo = Infinity): Promise<void> => {
  const { streams } = await manage(queue)
  for (let count = 0; count < subjectMessagesMax; count += 1) {
    const newest = await streams.getMessage(stream, { last_by_subj: subject })
    if (!newest || newest.seq > upTo) return
    await deleteMessage(queue, stream, newest.seq)
  }
  throw new AppError('SERVICE_UNAVAILABLE', { message: `${subject}: more than ${subjectMessagesMax} messages` })
}

/**
 * The oldest capture of each lane that its consumer counts as acknowledged although it is stored: it will not be delivered.
 * `sequence`: of its message.
 */
export const findUndeliverable = async (queue: Queue): Promise<readonly { id: string; sequence: number }[]> => {
  const { consumers, streams } = await manage(queue)
  const infos = await Array.fromAsync(consumers.list(capturesStream.name))
  const oldest = infos.map(async ({ name, ack_floor: { stream_seq: floor } }) => {
    const lane = laneConsumers.find((each) => each.durable_name === name)
    if (!lane || floor === 0) return []
    // The client's type lacks the second field.
    const query = { seq: 1, next_by_subj: lane.filter_subject }
    const message = await streams.getMessage(capturesStream.name, query)
    return message && message.seq <= floor ? [{ id: parseCaptureId(message.subject), sequence: message.seq }] : []
  })
  return (await Promise.all(oldest)).flat()
}
