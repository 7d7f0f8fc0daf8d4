import { createHash } from 'node:crypto'
import { type Lane, lanes } from '#shared/capture/lane.ts'

/** Turns of other lanes in a row after which a lower lane has one. */
const othersMax = 7

/** The lower lanes, in the order in which they have their turns if both are due. */
const lowerLanes = ['bulk', 'normal'] as const

/** Where a worker begins, from 0: a hash of its name, so that of eight single-use workers about one begins at each lower lane. */
const firstTurn = (pod: string): number => createHash('sha256').update(pod).digest().readUInt8() % (othersMax + 1)

/**
 * The order in which all slots of a worker pull from the lanes: the most urgent first, but a lower lane once seven turns in a row
 * were of other lanes. So each lane gets at least one turn of eight while it has a backlog, and a capture of a batch never follows
 * on another while a more urgent one waits.
 */
export class LaneTurns {
  /** Turns since the lane had one, or since a capture of it was served. */
  readonly #others: Record<(typeof lowerLanes)[number], number>

  constructor(pod: string) {
    const turn = firstTurn(pod)
    this.#others = { bulk: turn, normal: (turn + 1) % (othersMax + 1) }
  }

  /** Begins the next turn; `allowed`: the lanes that the slot serves. Returns them in the order in which to pull from them. */
  next(allowed: readonly Lane[] = lanes): readonly Lane[] {
    const due = lowerLanes.find((lane) => allowed.includes(lane) && this.#others[lane] >= othersMax)
    for (const lane of lowerLanes) this.#others[lane] += 1
    if (!due) return allowed
    this.#others[due] = 0
    return [due, ...allowed.filter((lane) => lane !== due)]
  }

  /** Records the lane of the capture that was taken in the turn with this order. That of the first lane is already counted. */
  served(order: readonly Lane[], lane: Lane): void {
    if (lane !== order[0] && lane !== 'interactive') this.#others[lane] = 0
  }
}
