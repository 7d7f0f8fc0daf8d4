import type { CaptureRow } from '#test/chaos/snapshot.ts'
import { type Invariant, isTerminal } from './facts.ts'

const countBy = <T>(items: readonly T[], key: (item: T) => string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1)
  return counts
}

const chargesOf = { completed: ['settled', 'free'], failed: ['released', 'free'] } as const

const isChargedRight = ({ status, charge }: CaptureRow): boolean =>
  status === 'completed' || status === 'failed'
    ? (chargesOf[status] as readonly string[]).includes(charge)
    : ['reserved', 'free'].includes(charge)

const chargedByEnd: Invariant = {
  name: 'charged by its end',
  rule: 'A completed capture is charged once, or is a free hit; a failed one is not charged.',
  broken: ({ snapshot }) =>
    snapshot.captures.flatMap((row) => (isChargedRight(row) ? [] : [`${row.id}: ${row.status} and ${row.charge}`])),
}

const usageEqualsEnds: Invariant = {
  name: 'usage equals what ended',
  rule: 'An account has used what its captures completed, without hits, and what it deleted after it had begun.',
  broken: ({ snapshot }) => {
    const settled = countBy(
      snapshot.captures.filter(({ charge }) => charge === 'settled'),
      ({ account }) => account,
    )
    const counted = countBy(
      snapshot.deleted.filter(({ staysCharged }) => staysCharged),
      ({ account }) => account,
    )
    const open = countBy(
      snapshot.captures.filter(({ charge }) => charge === 'reserved'),
      ({ account }) => account,
    )
    return snapshot.usage.flatMap((usage) => {
      const { account } = usage
      const due = (settled.get(account) ?? 0) + (counted.get(account) ?? 0)
      const reserved = open.get(account) ?? 0
      return usage.settled === due && usage.reserved === reserved
        ? []
        : [`account ${account}: ${usage.settled} + ${usage.reserved} used, ${due} + ${reserved} due`]
    })
  },
}

const quotaHolds: Invariant = {
  name: 'quota holds',
  rule: 'No account without overage uses more than its quota.',
  broken: ({ snapshot }) =>
    snapshot.usage.flatMap(({ account, settled, reserved }) =>
      settled + reserved > (snapshot.quotas[account] ?? Infinity)
        ? [`account ${account}: ${settled + reserved} of ${snapshot.quotas[account]}`]
        : [],
    ),
}

const metersAgree: Invariant = {
  name: 'meters agree',
  rule: 'Every meter equals the count over the rows.',
  broken: ({ snapshot }) => [...snapshot.meterDifferences],
}

const nothingIsLeft: Invariant = {
  name: 'nothing is left in the queue',
  rule: 'No message or outbox row of a capture outlasts its end.',
  broken: ({ snapshot, captures }) => {
    const open = new Set(snapshot.captures.flatMap(({ id, status }) => (isTerminal(status) ? [] : [id])))
    const pending = new Set(snapshot.deletions)
    const isOver = (id: string) => captures.has(id) && !open.has(id) && !pending.has(id)
    return [
      ...snapshot.messages.filter(isOver).map((id) => `${id}: message in the stream`),
      ...snapshot.outbox.filter(isOver).map((id) => `${id}: row in the outbox`),
    ]
  },
}

/** Invariants on charges, meters and the queue. */
export const chargeInvariants: readonly Invariant[] = [
  chargedByEnd,
  usageEqualsEnds,
  quotaHolds,
  metersAgree,
  nothingIsLeft,
]
