import { type CaptureFacts, type Facts, isTerminal } from './facts.ts'

/** When a response first showed the end of a capture; Infinity if none did. */
export const endShownMs = ({ observations }: CaptureFacts): number =>
  observations.reduce(
    (first, { sight, exchange }) => (isTerminal(sight.status) ? Math.min(first, exchange.endMs) : first),
    Infinity,
  )

const deadlineMs = ({ calmMs, limits }: Facts, { accepted }: CaptureFacts): number =>
  accepted ? Math.max(accepted.endMs, calmMs) + (accepted.budgetMs ?? 0) + limits.recoveryMs : Infinity

/** Milliseconds by which an accepted capture ended after its deadline; at most 0 if in time. */
export const latenessMs = (facts: Facts, capture: CaptureFacts): number =>
  endShownMs(capture) - deadlineMs(facts, capture)

/**
 * Whether a late capture was behind others of a busy machine, rather than stuck: until it ended, captures ended without a gap above
 * `stallMs`, and after its deadline no more of them than were open then. A stuck capture is overtaken by those accepted later, or ends
 * after nothing did.
 */
export const isBehindOthers = (facts: Facts, capture: CaptureFacts): boolean => {
  const [fromMs, untilMs] = [deadlineMs(facts, capture), endShownMs(capture)]
  const others = [...facts.captures.values()].filter((other) => other !== capture && other.accepted)
  const open = others.filter((other) => (other.accepted?.endMs ?? Infinity) < fromMs && endShownMs(other) > fromMs)
  const ends = others
    .map(endShownMs)
    .filter((endMs) => endMs > fromMs - facts.limits.stallMs && endMs <= untilMs)
    .toSorted((one, other) => one - other)
  if (ends.length === 0 || ends.filter((endMs) => endMs > fromMs).length > open.length) return false
  return [...ends, untilMs].every((endMs, index) => endMs - (ends[index - 1] ?? endMs) <= facts.limits.stallMs)
}
