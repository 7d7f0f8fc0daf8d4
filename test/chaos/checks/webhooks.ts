import type { DeliveryRow } from '#test/chaos/snapshot.ts'
import { type CaptureFacts, type Facts, type Invariant, isTerminal } from './facts.ts'

const isAccepted = (answered: number | undefined) => answered !== undefined && answered >= 200 && answered < 300

const rowsByCapture = ({ snapshot }: Facts): Map<string, DeliveryRow[]> => {
  const rows = new Map<string, DeliveryRow[]>()
  for (const row of snapshot.deliveries) {
    const known = rows.get(row.captureId ?? '')
    if (known) known.push(row)
    else rows.set(row.captureId ?? '', [row])
  }
  return rows
}

const problem = ({ deliveries }: CaptureFacts, row: DeliveryRow, attemptsMax: number): string | undefined => {
  const received = deliveries.filter(({ path }) => path === row.path)
  const hasAccepted = received.some(({ answered }) => isAccepted(answered))
  if (row.state === 'pending') return 'still waits'
  if (row.state === 'delivered') return hasAccepted ? undefined : 'recorded as delivered, but never accepted'
  if (row.attempts < attemptsMax) return `given up after ${row.attempts} attempts`
  return undefined
}

/** Paths of the receivers to which the end of a capture is due: that of its request, and those of its account. */
const duePaths = ({ accepted, row }: CaptureFacts, { snapshot }: Facts): string[] => [
  ...(accepted?.webhook === undefined ? [] : [accepted.webhook]),
  ...snapshot.webhooks.filter(({ account }) => account === row?.account).map(({ path }) => path),
]

const dueIsAttempted: Invariant = {
  name: 'webhooks are attempted',
  rule: 'The webhooks of an ended capture, its own and those of its account, are attempted until a receiver accepts them or their schedule ends.',
  broken: (facts) => {
    const rows = rowsByCapture(facts)
    return [...facts.captures.values()].flatMap((capture) => {
      const { id, row, deleted } = capture
      if (!row || deleted || !isTerminal(row.status)) return []
      return duePaths(capture, facts).flatMap((due) => {
        const own = (rows.get(id) ?? []).filter(({ path, isUpload }) => path === due && !isUpload)
        if (own.length !== 1) return [`${id}: ${own.length} deliveries to ${due}`]
        return own
          .flatMap((each) => problem(capture, each, facts.limits.webhookAttempts) ?? [])
          .map((what) => `${id}: ${what}`)
      })
    })
  },
}

const sameBody: Invariant = {
  name: 'same body',
  rule: 'All attempts of a delivery carry the same bytes.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap(({ id, deliveries }) => {
      const bodies = new Map<string, Set<string>>()
      for (const { path, bodySha256 } of deliveries) bodies.set(path, (bodies.get(path) ?? new Set()).add(bodySha256))
      return [...bodies.values()].some(({ size }) => size > 1) ? [`${id}: attempts with different bodies`] : []
    }),
}

const noneAfterDeletion: Invariant = {
  name: 'no webhook after deletion',
  rule: 'No attempt of a deleted capture arrives once those in flight at its deletion are over.',
  broken: ({ captures, limits }) =>
    [...captures.values()].flatMap(({ id, deleted, deliveries }) =>
      deleted && deliveries.some(({ atMs }) => atMs > deleted.endMs + limits.lateDeliveryMs)
        ? [`${id}: delivered after its deletion`]
        : [],
    ),
}

/** Invariants on webhooks. */
export const webhookInvariants: readonly Invariant[] = [dueIsAttempted, sameBody, noneAfterDeletion]
