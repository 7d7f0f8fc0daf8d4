import { maxAttempts, unendedMax } from '#shared/capture/budget.ts'
import { type Exchange, isSuccess } from '#test/chaos/history.ts'
import { type CaptureFacts, creates, type Invariant, isTerminal, type Observation } from './facts.ts'
import { isBehindOthers, latenessMs } from './late.ts'

const rank = { pending: 0, processing: 1, completed: 2, failed: 2 } as const

const text = ({ sight: { status, fileSize, errorCode } }: Observation) =>
  [status, fileSize, errorCode].filter((part) => part !== undefined).join(' ')

/** A later request must not be shown less than what an earlier response had shown. */
const stepsBack = ({ id, observations }: CaptureFacts): string[] => {
  const byStart = observations.toSorted((one, other) => one.exchange.startMs - other.exchange.startMs)
  const byEnd = observations.toSorted((one, other) => one.exchange.endMs - other.exchange.endMs)
  let highest: Observation | undefined
  let next = 0
  for (const later of byStart) {
    for (; (byEnd[next]?.exchange.endMs ?? Infinity) < later.exchange.startMs; next += 1) {
      const ended = byEnd[next]!
      if (!highest || rank[ended.sight.status] > rank[highest.sight.status]) highest = ended
    }
    if (highest && rank[later.sight.status] < rank[highest.sight.status])
      return [`${id}: ${text(later)} after ${text(highest)}`]
  }
  return []
}

const statusMovesForward: Invariant = {
  name: 'status moves forward',
  rule: 'No response shows a capture in an earlier status than a response before it.',
  broken: ({ captures }) => [...captures.values()].flatMap(stepsBack),
}

/** Ends as responses and the row tell them; a field that one of them does not tell is not compared. */
const ends = ({ observations, row }: CaptureFacts): (readonly [status: string, error: string, bytes: string])[] => [
  ...observations
    .filter(({ sight }) => isTerminal(sight.status))
    .map(({ sight }) => [sight.status, sight.errorCode ?? '', String(sight.fileSize ?? '')] as const),
  ...(row && isTerminal(row.status)
    ? [[row.status, row.errorCode ?? '', String((row.status === 'completed' && row.fileSize) || '')] as const]
    : []),
]

const endNeverChanges: Invariant = {
  name: 'one end',
  rule: 'All responses, lists and the row agree on how a capture ended.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap((capture) => {
      const recorded = ends(capture)
      const differing = [0, 1, 2].flatMap((field) => {
        const values = new Set(recorded.map((end) => end[field] ?? '').filter((value) => value !== ''))
        return values.size > 1 ? [`${capture.id}: ${[...values].join(' and ')}`] : []
      })
      return differing
    }),
}

/** Operations whose response is the image of the capture that it shows. */
const own: ReadonlySet<string> = new Set(['capture', 'render'])

const imageNeverChanges: Invariant = {
  name: 'same image',
  rule: 'Every download of a capture returns the bytes whose digest its row has.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap(({ id, targeted, observations, row }) => {
      const shown = observations.flatMap(({ exchange }) => (own.has(exchange.operation) ? [exchange] : []))
      const digests = new Set([...targeted, ...shown].flatMap(({ imageSha256 }) => imageSha256 ?? []))
      if (row?.sha256 != null && digests.size > 0) digests.add(row.sha256)
      return digests.size > 1 ? [`${id}: ${digests.size} different images`] : []
    }),
}

const repeatsAgree: Invariant = {
  name: 'repeat gives the same capture',
  rule: 'A repeated request with the same idempotency key is told the same captures, unless one was deleted meanwhile.',
  broken: ({ exchanges, captures }) => {
    const first = new Map<string, string>()
    return exchanges.flatMap((exchange) => {
      const { operation, idempotencyKey, account, captures: shown } = exchange
      if (!creates.has(operation) || idempotencyKey === undefined || shown.length === 0) return []
      if (shown.some(({ id }) => captures.get(id)?.deleted || captures.get(id)?.mayBeDeleted)) return []
      const key = `${account} ${idempotencyKey}`
      const ids = shown.map(({ id }) => id).join(' ')
      const before = first.get(key) ?? ids
      first.set(key, before)
      return before === ids ? [] : [`key ${idempotencyKey}: ${before}, then ${ids}`]
    })
  },
}

const acceptedIsKept: Invariant = {
  name: 'accepted is kept',
  rule: 'A capture that a response showed exists until it is deleted.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap(({ id, observations, deleted, mayBeDeleted, row }) =>
      observations.length > 0 && !deleted && !mayBeDeleted && !row ? [`${id}: shown, but has no row`] : [],
    ),
}

const acceptedIsFound: Invariant = {
  name: 'accepted is found',
  rule: 'The status of a capture is found from its acceptance until its deletion, also while its account moves.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap(({ id, accepted, deleted, mayBeDeleted, targeted }) => {
      if (!accepted || mayBeDeleted) return []
      const untilMs = deleted?.startMs ?? Infinity
      const isLost = ({ operation, status, startMs, endMs }: Exchange) =>
        operation === 'status' && status === 404 && startMs > accepted.endMs && endMs < untilMs
      return targeted.some(isLost) ? [`${id}: not found after its acceptance`] : []
    }),
}

/** Deletions that had no response, or failed, may happen at any time. */
const mustBeListed = ({ accepted, deleted, mayBeDeleted }: CaptureFacts, list: Exchange): boolean =>
  accepted?.account === list.account &&
  accepted.endMs < list.startMs &&
  !mayBeDeleted &&
  !(deleted && deleted.startMs < list.endMs)

const listsAreComplete: Invariant = {
  name: 'lists are complete',
  rule: 'A list shows each capture of its account that was accepted before the request and not deleted.',
  broken: ({ captures, exchanges }) =>
    exchanges.flatMap((list) => {
      if (list.operation !== 'list' || list.isWhole !== true) return []
      const shown = new Set(list.captures.map(({ id }) => id))
      return [...captures.values()]
        .filter((capture) => !shown.has(capture.id) && mustBeListed(capture, list))
        .map(({ id }) => `${id}: missing in a list after its acceptance`)
    }),
}

const endsInTime: Invariant = {
  name: 'ends in time',
  rule: 'An accepted capture ends within its budget plus the stated recovery, after acceptance or the last fault, or behind others that end at a steady rate.',
  broken: (facts) =>
    [...facts.captures.values()].flatMap((capture) => {
      const { id, row, accepted, deleted, mayBeDeleted } = capture
      if (row && !isTerminal(row.status)) return [`${id}: still ${row.status}`]
      if (!accepted || deleted || mayBeDeleted) return []
      const lateMs = latenessMs(facts, capture)
      return lateMs > 0 && !isBehindOthers(facts, capture) ? [`${id}: ended ${Math.round(lateMs)} ms too late`] : []
    }),
}

/** Attempts after which a fault of ours may end a capture: both that never ended, or all. */
const attemptsBefore: Readonly<Record<string, number>> = { RENDER_ERROR: unendedMax, JOB_FAILED: maxAttempts }

const faultsAreNotBlamed: Invariant = {
  name: 'nobody is blamed for a fault',
  rule: 'A fault of the service ends no capture of a good page before its attempts are used up, and then as an error of ours.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap(({ id, row, accepted }) => {
      if (row?.status !== 'failed' || !accepted) return []
      const isUsedUp = row.attempts >= (attemptsBefore[row.errorCode ?? ''] ?? Infinity)
      return isUsedUp ? [] : [`${id}: ${row.errorCode} at attempt ${row.attempts}`]
    }),
}

const usageIsShown: Invariant = {
  name: 'usage is shown',
  rule: 'After the run, the usage operation shows what the meter has.',
  broken: ({ exchanges, snapshot }) =>
    snapshot.usage.flatMap(({ account, reserved, settled }) => {
      const shown = exchanges.findLast(
        (each) => each.operation === 'usage' && each.account === account && isSuccess(each),
      )
      return shown?.used === undefined || shown.used === reserved + settled
        ? []
        : [`account ${account}: ${shown.used} shown, ${reserved + settled} counted`]
    }),
}

/** Invariants on what responses show. */
export const responseInvariants: readonly Invariant[] = [
  statusMovesForward,
  endNeverChanges,
  imageNeverChanges,
  repeatsAgree,
  acceptedIsKept,
  acceptedIsFound,
  listsAreComplete,
  endsInTime,
  faultsAreNotBlamed,
  usageIsShown,
]
