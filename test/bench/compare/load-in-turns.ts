import { openConnection } from '#test/bench/load.ts'
import { type Pair, turnOrder } from './pair.ts'

/** What is asked of one of the two: whole HTTP/1.1 requests as text, sent in turn. */
export type LoadTarget = { readonly port: number; readonly requests: readonly string[] }

/** `status` is that of every right answer. */
export type InTurns = { readonly connections: number; readonly seconds: number; readonly status: string }

const openLane = ([base, work]: Pair<LoadTarget>): Pair<ReturnType<typeof openConnection>> => [
  openConnection(base.port),
  openConnection(work.port),
]

/**
 * Asks both for so many seconds, each connection in the order ABBA, request by request. The speed of a shared machine changes
 * by a third within a second, and an accept costs more where fewer share a commit: so both meet the same moments at the same
 * rate. Resolves to the requests that each answered. Throws on another status.
 */
export const loadInTurns = async (
  pair: Pair<LoadTarget>,
  { connections, seconds, status }: InTurns,
): Promise<number> => {
  const lanes = Array.from({ length: connections }, () => openLane(pair))
  const end = performance.now() + seconds * 1000
  let answers = 0
  const askBoth = async (lane: ReturnType<typeof openLane>) => {
    for (const side of turnOrder) {
      const { requests } = pair[side]
      const { status: answered } = await lane[side].ask(requests[answers % requests.length] ?? '')
      if (answered !== status) throw new Error(`expected ${status}, received ${answered}`)
    }
    answers += 2
  }
  try {
    await Promise.all(
      lanes.map(async (lane) => {
        while (performance.now() < end) await askBoth(lane)
      }),
    )
    return answers
  } finally {
    for (const connection of lanes.flat()) connection.close()
  }
}
