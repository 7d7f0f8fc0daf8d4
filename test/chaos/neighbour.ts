import { setTimeout as delay } from 'node:timers/promises'
import type { Violation } from './checks/facts.ts'
import type { System } from '#test/helpers/system.ts'

const everyMs = 200
/** Longer than a request takes on a busy machine, shorter than any outage of a cell. */
const answerMs = 5000

const invariant = 'cells: an account of another cell notices nothing'

/** Requests of an account of the second cell, over the router, while the first one is disturbed. */
export type Neighbour = {
  /** Ends the requests; resolves to those that failed. A `mayBeCut` one was cut with the router itself. */
  readonly stop: (mayBeCut: boolean) => Promise<Violation[]>
}

/** Starts the requests; undefined if the system has a single cell. */
export const startNeighbour = ({ baseUrl, cells }: System): Neighbour | undefined => {
  const [, second] = cells ?? []
  if (!second) return undefined
  const stopping = new AbortController()
  const failures: { readonly what: string; readonly isCut: boolean }[] = []
  const ask = async () => {
    const headers = { authorization: `Bearer ${second.api_key}` }
    try {
      const answer = await fetch(`${baseUrl}/v1/account`, { headers, signal: AbortSignal.timeout(answerMs) })
      await answer.text()
      if (answer.status !== 200) failures.push({ what: `status ${answer.status}`, isCut: false })
    } catch (error) {
      const isCut = (error as Error).name !== 'TimeoutError'
      failures.push({ what: String(error), isCut })
    }
  }
  const run = async () => {
    for (; !stopping.signal.aborted; await delay(everyMs)) await ask()
  }
  const running = run()
  return {
    stop: async (mayBeCut) => {
      stopping.abort()
      await running
      return failures.filter(({ isCut }) => !(mayBeCut && isCut)).map(({ what }) => ({ invariant, what }))
    },
  }
}
