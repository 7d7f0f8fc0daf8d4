import {
  type Delivery,
  type Event,
  type Exchange,
  type FaultSpan,
  type History,
  isSuccess,
  type PageLoad,
  type Pause,
  type Sight,
  type Upload,
} from '#test/chaos/history.ts'
import type { CaptureRow, Snapshot } from '#test/chaos/snapshot.ts'

/** A capture as one response showed it. */
export type Observation = { readonly sight: Sight; readonly exchange: Exchange }

/** Everything recorded about one capture. */
export type CaptureFacts = {
  readonly id: string
  /** The first request that was told its id on creation; undefined if only lists showed it. */
  accepted: Exchange | undefined
  readonly observations: Observation[]
  /** Requests with its id in their path. */
  readonly targeted: Exchange[]
  /** The successful deletion. */
  deleted: Exchange | undefined
  /** Whether a deletion had no response, so that it may have happened. */
  mayBeDeleted: boolean
  readonly deliveries: Delivery[]
  readonly uploads: Upload[]
  row: CaptureRow | undefined
}

/** Bounds that the checks allow. */
export type Limits = {
  /** Most milliseconds on top of an attempt's budget until a capture has ended, after acceptance and the last fault. */
  readonly recoveryMs: number
  /** Longest time in which no capture ends on a machine that is busy, and not stuck. */
  readonly stallMs: number
  /** Attempts of a delivery that is never accepted: the first and each retry. */
  readonly webhookAttempts: number
  /** Most milliseconds after a deletion in which a delivery that was being sent may still arrive. */
  readonly lateDeliveryMs: number
  /** Most milliseconds until a record whose retention is over is removed. */
  readonly rowRemovalMs: number
}

/** History and snapshot, by capture. */
export type Facts = {
  readonly captures: ReadonlyMap<string, CaptureFacts>
  readonly exchanges: readonly Exchange[]
  readonly snapshot: Snapshot
  readonly limits: Limits
  readonly faults: readonly FaultSpan[]
  readonly pauses: readonly Pause[]
  readonly loads: readonly PageLoad[]
  /** End of the last fault or pause; -Infinity without one. */
  readonly calmMs: number
  /** Faults by which NATS lost what it had confirmed, as the beginning of an attempt. */
  readonly losses: number
}

/** A broken invariant. */
export type Violation = { readonly invariant: string; readonly what: string }

/** A rule that history and snapshot must obey, and a function that returns what breaks it. */
export type Invariant = {
  readonly name: string
  /** A plain sentence. */
  readonly rule: string
  readonly broken: (facts: Facts) => string[]
}

/** Operations that create captures. */
export const creates: ReadonlySet<string> = new Set(['create', 'capture', 'batch'])

/** Whether a status is final. */
export const isTerminal = (status: string): boolean => status === 'completed' || status === 'failed'

const addExchange = (exchange: Exchange, factsOf: (id: string) => CaptureFacts): void => {
  for (const sight of exchange.captures) {
    const facts = factsOf(sight.id)
    facts.observations.push({ sight, exchange })
    if (creates.has(exchange.operation) && (facts.accepted?.endMs ?? Infinity) > exchange.endMs)
      facts.accepted = exchange
  }
  if (exchange.target === undefined) return
  const facts = factsOf(exchange.target)
  facts.targeted.push(exchange)
  if (exchange.operation !== 'delete') return
  if (isSuccess(exchange)) facts.deleted ??= exchange
  // A deletion whose response was lost, or that failed after its transaction.
  else if (exchange.status === undefined || exchange.status >= 500) facts.mayBeDeleted = true
}

/** Sorts a history and a snapshot by capture. */
export const collectFacts = (history: History, snapshot: Snapshot, limits: Limits): Facts => {
  const captures = new Map<string, CaptureFacts>()
  const factsOf = (id: string): CaptureFacts => {
    const known = captures.get(id)
    if (known) return known
    const created: CaptureFacts = {
      id,
      accepted: undefined,
      observations: [],
      targeted: [],
      deleted: undefined,
      mayBeDeleted: false,
      deliveries: [],
      uploads: [],
      row: undefined,
    }
    captures.set(id, created)
    return created
  }
  const select = <Kind extends Event['kind']>(kind: Kind) =>
    history.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind)
  const [exchanges, faults, pauses] = [select('exchange'), select('fault'), select('pause')]
  for (const exchange of exchanges) addExchange(exchange, factsOf)
  for (const delivery of select('delivery')) factsOf(delivery.captureId).deliveries.push(delivery)
  for (const upload of select('upload')) factsOf(upload.captureId).uploads.push(upload)
  for (const row of snapshot.captures) factsOf(row.id).row = row
  const calmMs = [...faults, ...pauses].reduce((latest, { endMs }) => Math.max(latest, endMs), -Infinity)
  const losses = faults.filter(({ name }) => name.startsWith('nats loses')).length
  return { captures, exchanges, snapshot, limits, faults, pauses, loads: select('load'), calmMs, losses }
}
