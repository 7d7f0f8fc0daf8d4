import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { createValidator } from '#shared/capture/check-schema.ts'
import type { CaptureOptions } from '#shared/capture/options.ts'
import { blames, captureErrorCodes } from '#shared/errors/catalog.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { minuteMs, predictedMinutes } from '#shared/policy/predict-arrivals.ts'
import { entriesMax, entryCharactersMax } from '#shared/policy/target-lists.ts'
import { capturedFile, filesMax } from '#shared/capture/files.ts'
import { byLane, pools } from '#shared/capture/lane.ts'
import { browserKinds } from '#shared/capture/pool-of.ts'
import { sealedDetailsMax } from '#shared/capture/result-details.ts'
import { workerStages } from '#shared/capture/stages.ts'

const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })
const count = (maximum = Number.MAX_SAFE_INTEGER) => Type.Integer({ minimum: 0, maximum })
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const closed = { additionalProperties: false }
/** A day. */
const stageMsMax = 86_400_000
const attempt = Type.Integer({ minimum: 1, maximum: 100 })
const pool = Type.Enum([...pools])
const perLane = <S extends TSchema>(schema: S) => Type.Object({ ...byLane(() => schema) })

/** Encodes and decodes one kind of message; both check it against its schema. */
type Codec<T> = {
  /** Throws a `TypeError` if the message violates its schema: a programming error. */
  readonly encode: (message: T) => Uint8Array
  /** Throws `JOB_FAILED` if the bytes are not such a message. */
  readonly decode: (bytes: Uint8Array) => T
}

const codec = <S extends TSchema>(name: string, schema: S): Codec<Static<S>> => {
  const check = createValidator(schema)
  const findProblem = (value: unknown) => {
    const problem = check(value)
    return problem && `${name} message: ${problem.pointer} ${problem.message}`
  }
  return {
    encode: (message) => {
      const problem = findProblem(message)
      if (problem !== undefined) throw new TypeError(problem)
      return Buffer.from(JSON.stringify(message))
    },
    decode: (bytes) => {
      let value: unknown
      try {
        value = JSON.parse(Buffer.from(bytes).toString('utf8'))
      } catch (cause) {
        throw new AppError('JOB_FAILED', { message: `${name} message: is not JSON`, cause })
      }
      const problem = findProblem(value)
      if (problem !== undefined) throw new AppError('JOB_FAILED', { message: problem })
      return value as Static<S>
    },
  }
}

/** A report that is not stored. Readers ignore properties that they do not know: a sender may be of a later release than its readers. */
const report = <P extends TProperties>(name: string, properties: P) => codec(name, Type.Object(properties))

const message = <P extends TProperties>(name: string, properties: P) => codec(name, Type.Object(properties, closed))

type DecodedMessage<C> = C extends Codec<infer T> ? T : never

/** A capture for a worker. `sealed` opens only with the pool's private key; `attempts`: attempts begun before it was published. */
export const captureCodec = message('capture', {
  id: uuid,
  pool,
  budgetMs: Type.Integer({ minimum: 1000, maximum: 600_000 }),
  attempts: count(100),
  sealed: text(7 * 1024 * 1024),
})

/** Most object keys that a hand-back names. */
export const handedBackKeysMax = 20

/** A worker's report that an attempt has begun, was handed back and does not count, or that the capture's message is unreadable. */
export const startedCodec = message('started', {
  id: uuid,
  attempt,
  kind: Type.Enum(['begun', 'handed-back', 'unreadable']),
  pod: text(253),
  /** Hand-backs caused only by a browser exit, a lost connection or a worker that did not run; absent: none. */
  handBacks: Type.Optional(count(100)),
  /** With `handed-back`: keys at which the store may have stored the image, or may yet. */
  objectKeys: Type.Optional(Type.Array(text(300), { maxItems: handedBackKeysMax })),
})

/**
 * Milliseconds of each stage of an attempt, measured by the worker. Not closed: a worker newer than the ledger may
 * report stages that the ledger does not have.
 */
export const timings = Type.Record(Type.Enum([...workerStages]), count(stageMsMax))

/** What the result quotes of the page or the request, see `sealDetails`: queue and ledger cannot open it. Absent: nothing. */
const details = Type.Optional(text(sealedDetailsMax))

const completed = Type.Object(
  {
    id: uuid,
    attempt,
    token: text(64),
    outcome: Type.Literal('completed'),
    objectKey: text(300),
    bytes: count(),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    width: count(200_000),
    height: count(200_000),
    targetStatus: Type.Optional(count(999)),
    timings: Type.Partial(timings),
    details,
    /** Stored behind the image, in this order; `bytes` and `sha256` are of the image alone. Absent: none. */
    files: Type.Optional(Type.Array(capturedFile, { maxItems: filesMax })),
  },
  closed,
)

const failed = Type.Object(
  {
    id: uuid,
    attempt,
    token: text(64),
    outcome: Type.Literal('failed'),
    code: Type.Enum([...captureErrorCodes]),
    details,
    /** Absent: that of the code. */
    blame: Type.Optional(Type.Enum([...blames])),
    timings: Type.Partial(timings),
  },
  closed,
)

/** A worker's report of how an attempt ended. Valid only with the token that was sealed into the capture. */
export const resultCodec = codec('result', Type.Union([completed, failed]))

/** Published after the commit of a terminal status. `objectKey` is that of the winning attempt. */
export const eventCodec = message('event', {
  id: uuid,
  status: Type.Enum(['completed', 'failed']),
  objectKey: Type.Optional(text(300)),
})

/** Time between a worker's heartbeats, in milliseconds. An operator receives those of a thousand workers. */
export const heartbeatMs = 2000

/** A worker's heartbeat, every `heartbeatMs`, on every change of state, and within half a second after a capture begins or ends. */
export const heartbeatCodec = report('heartbeat', {
  pod: text(253),
  pool,
  pid: count(),
  slots: count(64),
  /** How many of them serve no capture of lane `bulk`; absent: none. */
  reservedSlots: Type.Optional(count(64)),
  busy: count(64),
  state: Type.Enum(['starting', 'ready', 'draining', 'drained']),
  /** Captures being served, at most two per slot: while one is stored the next may be in the browser. */
  captures: Type.Array(uuid, { maxItems: 64 }),
  /** Mean service time of recent captures; absent before the first. */
  serviceMs: Type.Optional(count(600_000)),
  /** The same for the captures of each lane, the longest ones clipped; a lane without a capture is missing. */
  laneServiceMs: Type.Optional(Type.Partial(perLane(count(600_000)))),
  /** Its installed browsers with version and time of their build, in milliseconds since 1970; absent until they were read. */
  browsers: Type.Optional(
    Type.Array(
      Type.Object({ browser: Type.Enum([...browserKinds]), version: text(40), builtAtMs: Type.Optional(count()) }),
      { maxItems: 2 },
    ),
  ),
})

const backlogCounts = {
  pending: count(),
  processing: count(),
  /** Age of the oldest pending capture. */
  oldestMs: count(),
}

/** The ledger's counts of one pool, in captures: `pending` wait for admission or for a worker, `processing` have begun. */
export const backlogCodec = report('backlog', {
  pool,
  ...backlogCounts,
  /** The same by lane; but for rounding, the others are their sum, and the oldest. */
  lanes: perLane(
    Type.Object({
      ...backlogCounts,
      /** Captures accepted ever, to count those of any time. */
      accepted: count(),
      /** Captures that a pattern predicts for each minute, beginning with the present one; absent: none. */
      predicted: Type.Optional(Type.Array(count(), { maxItems: predictedMinutes })),
    }),
  ),
  /** Milliseconds since the present minute began; absent: nothing is predicted. */
  intoMinuteMs: Type.Optional(count(minuteMs)),
  /** Most milliseconds until the next count; absent: two seconds. */
  nextMs: Type.Optional(count(minuteMs)),
})

/** Whether the controller can start workers of a pool; published every second by one of single-use workers, and while no worker serves the pool. */
export const poolStateCodec = message('pool state', {
  pool,
  canStart: Type.Boolean(),
  /** Milliseconds for which `canStart` has had this value without interruption. */
  forMs: count(),
  /** Why: the reason that logs, metrics and conditions use. */
  reason: text(40),
})

/** A decision on the size of a pool, in workers; for operators in the console. */
export const decisionCodec = report('decision', {
  pool,
  /** Name of the BrowserPool; without Kubernetes the queue's. */
  browserpool: text(253),
  desired: count(),
  min: count(),
  max: count(),
  /** Absent: they could not be read. */
  ready: Type.Optional(count()),
  /** What is done, and why: the words that logs, metrics and conditions use. */
  decision: text(40),
  reason: text(40),
  /** Longest time that a capture of each lane should wait. Absent: the pool has none. */
  objectivesMs: Type.Optional(perLane(count())),
})

/** Key of an object and its signed PUT address. */
const put = Type.Object({ key: text(300), url: text(8192) }, closed)

const targetEntries = Type.Array(text(entryCharactersMax), { maxItems: entriesMax })

/** The part that only a worker can read: the effective options with the source, the result's token and key, and one signed PUT address per attempt. */
export const sealedCodec = message('sealed', {
  options: Type.Unsafe<CaptureOptions>(Type.Object({}, { additionalProperties: true })),
  token: text(64),
  /** Under which the details of its results are sealed; see `sealDetails`. */
  resultKey: text(100),
  /** Those of attempt 1, 2, 3. */
  puts: Type.Array(put, { minItems: 1, maxItems: 10 }),
  /** The account's lists of targets when it was accepted, in normal form; absent: empty. A worker that does not know them fails the capture. */
  targets: Type.Optional(Type.Object({ allow: targetEntries, deny: targetEntries }, closed)),
})

/** The response to a request for a newly signed address; without `put` if the capture has ended, or is none of the pool. */
export const signedCodec = message('signed', { put: Type.Optional(put) })

/** See `sealedCodec`. */
export type SealedPart = DecodedMessage<typeof sealedCodec>
/** An address for one image. */
export type Put = Static<typeof put>
/** See `captureCodec`. */
export type CaptureMessage = DecodedMessage<typeof captureCodec>
/** See `startedCodec`. */
export type StartedMessage = DecodedMessage<typeof startedCodec>
/** See `resultCodec`. */
export type ResultMessage = DecodedMessage<typeof resultCodec>
/** The half of `ResultMessage` that reports an image. */
export type CompletedResult = Static<typeof completed>
/** The half of `ResultMessage` that reports an error. */
export type FailedResult = Static<typeof failed>
/** See `eventCodec`. */
export type EventMessage = DecodedMessage<typeof eventCodec>
/** See `heartbeatCodec`. */
export type HeartbeatMessage = DecodedMessage<typeof heartbeatCodec>
/** A browser that a worker has installed, with its version and the time of its build if it is known. */
export type InstalledBrowser = NonNullable<HeartbeatMessage['browsers']>[number]
/** See `backlogCodec`. */
export type BacklogMessage = DecodedMessage<typeof backlogCodec>
/** See `poolStateCodec`. */
export type PoolStateMessage = DecodedMessage<typeof poolStateCodec>
/** See `decisionCodec`. */
export type DecisionMessage = DecodedMessage<typeof decisionCodec>
/** See `timings`. */
export type Timings = Static<typeof timings>
