import { randomUUID } from 'node:crypto'
import { jetstream, jetstreamManager, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import { InvalidArgumentError } from '@nats-io/transport-node'
import { AppError } from '#shared/errors/app-error.ts'
import { traceHeaders, type Queue } from './connection.ts'
import { probeFilter } from './subjects.ts'

const publishTimeoutMs = 5000
const probeBytes = 4096
const readTimeoutMs = 2000
/** JetStream's error code of "maximum messages per subject exceeded". */
const subjectFull = 10_077
/** JetStream's error code if the message was to be the first of its subject: `StreamWrongLastSequence`. */
const wrongSequence = 10_071

/** Whether the message was stored, or one of the same subject was stored already (`stands`). */
export type Stored = 'stored' | 'stands'

/**
 * Publishes to a stream. Returns `stands`, and stores nothing, if its one message of this subject is stored already.
 * Throws `CONFIGURATION` if the message exceeds the server's `max_payload`; any other failure throws `SERVICE_UNAVAILABLE`
 * after at most five seconds and means "unknown". `first`: stores only if the stream has no message of the subject. `ttl`: the
 * server removes the message after this time, such as `1s`.
 */
export const publishStored = async (
  queue: Queue,
  subject: string,
  data: Uint8Array,
  {
    traceparent,
    first = false,
    ttl,
  }: { readonly traceparent?: string | undefined; readonly first?: boolean; readonly ttl?: string } = {},
): Promise<Stored> => {
  const headers = traceHeaders(traceparent)
  try {
    await jetstream(queue.connection).publish(subject, data, {
      timeout: publishTimeoutMs,
      ...(headers && { headers }),
      ...(ttl !== undefined && { ttl }),
      ...(first && { expect: { lastSubjectSequence: 0 } }),
    })
    return 'stored'
  } catch (cause) {
    if (cause instanceof JetStreamApiError && [subjectFull, wrongSequence].includes(cause.code)) return 'stands'
    if (cause instanceof InvalidArgumentError) {
      const message = `publish ${subject}: ${data.length} bytes are more than max_payload of the NATS server allows`
      throw new AppError('CONFIGURATION', { message, cause })
    }
    throw new AppError('SERVICE_UNAVAILABLE', { message: `publish ${subject}: ${String(cause)}`, cause })
  }
}

/**
 * Stores a message that the server removes after a second. A stream that could not be written to once refuses every later
 * message until its server restarts, so each stream is probed. The message is larger than a page of a disk: a small one may
 * fit where there is no space.
 */
export const probeStream = async (queue: Queue, stream: string): Promise<void> => {
  const subject = probeFilter(stream).replace('*', randomUUID())
  await publishStored(queue, subject, Buffer.alloc(probeBytes), { ttl: '1s' })
}

/** Returns the newest stored message of an exact subject; undefined if there is none. Throws `SERVICE_UNAVAILABLE` after two seconds. */
export const lastMessage = async (queue: Pick<Queue, 'request'>, stream: string, subject: string) => {
  const answer = await queue.request(`$JS.API.DIRECT.GET.${stream}.${subject}`, new Uint8Array(), readTimeoutMs)
  if (answer.statusCode === 404) return undefined
  if (answer.statusCode >= 400) {
    throw new AppError('SERVICE_UNAVAILABLE', { message: `direct get ${subject}: status ${answer.statusCode}` })
  }
  return {
    data: answer.data,
    /** Its number in the stream, from 1. */
    sequence: Number(answer.header('Nats-Sequence')),
    /** When it was stored, by the server's clock, in milliseconds since 1970. */
    storedAtMs: Date.parse(answer.header('Nats-Time-Stamp') ?? ''),
  }
}

/** Opens JetStream's management interface; only `shared/queue` uses it. Does not check for JetStream: the request itself fails without it. */
export const manage = (queue: Queue): Promise<JetStreamManager> =>
  jetstreamManager(queue.connection, { timeout: 5000, checkAPI: false })
