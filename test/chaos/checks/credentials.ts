import { type Exchange, isSuccess } from '#test/chaos/history.ts'
import type { Invariant } from './facts.ts'

/** Whether a response to the end of a credential says that it has ended, by this request or an earlier one. */
const hasEnded = (exchange: Exchange): boolean =>
  isSuccess(exchange) || exchange.status === 401 || exchange.status === 404

const endedIsRefused: Invariant = {
  name: 'an ended credential is refused',
  rule: 'Once the end of a session or the revocation of a key is confirmed, no request with it succeeds.',
  broken: ({ exchanges }) => {
    const endedMs = new Map<string, number>()
    for (const exchange of exchanges) {
      const { ends, endMs } = exchange
      if (ends === undefined || !hasEnded(exchange)) continue
      endedMs.set(ends, Math.min(endedMs.get(ends) ?? Infinity, endMs))
    }
    return exchanges.flatMap((each) =>
      isSuccess(each) && each.startMs > (endedMs.get(each.credential ?? '') ?? Infinity)
        ? [`${each.credential}: ${each.operation} after its end`]
        : [],
    )
  },
}

/** Invariants on sessions and keys. */
export const credentialInvariants: readonly Invariant[] = [endedIsRefused]
