import { createHash } from 'node:crypto'
import { type Lane, lanes } from '#shared/capture/lane.ts'

/** Turns of other lanes in a row after which a lower lane has one. */
const othersMax = 7

/** The lower lanes, in the order in which they have their turns if both are due. */
const lowerLanes = ['bulk', 'normal'] as const

/** Where a worker begins, from 0: a hash of its name, so that of eight single-use workers about one begins at each lower lane. */
const firstTurn = (pod: string): number => createHash('sha256').update(pod).digest().readUInt8() % (othersMax + 1)

/** The turns of one slot. */
export type SlotTurns = {
  /** Begins the next turn; returns the lanes in the order in which to pull from them. */
  readonly next: () => readonly Lane[]
  /** Records the lane of the capture that was taken in the turn. */
  readonly served: (lane: Lane) => void
}

/**
 * The order in which the slots of a worker pull from the lanes: the most urgent first, but a lower lane once seven turns in a row, of
 * any slots, were of other lanes. So each lane gets about one turn of eight while it has a backlog. A slot begins with a lower lane only
 * after a capture of a more urgent one: in a slot, none of a batch follows on another while a more urgent one waits.
 */
export class LaneTurns {
  /** Turns since the lane had one, or since a capture of it was served. */
  readonly #others: Record<(typeof lowerLanes)[number], number>

  constructor(pod: string) {
    const turn = firstTurn(pod)
    this.#others = { bulk: turn, normal: (turn + (othersMax + 1) / 2) % (othersMax + 1) }
  }

  /** The turns of a slot that serves the lanes in `allowed`. */
  forSlot(allowed: readonly Lane[] = lanes): SlotTurns {
    let order = allowed
    let last: Lane = 'interactive'
    return {
      next: () => {
        const mayBegin = (lane: Lane) => allowed.includes(lane) && lanes.indexOf(last) < lanes.indexOf(lane)
        const due = lowerLanes.find((lane) => this.#others[lane] >= othersMax && mayBegin(lane))
        for (const lane of lowerLanes) this.#others[lane] = Math.min(this.#others[lane] + 1, 2 * othersMax)
        // What it is late counts for its next turn.
        if (due) this.#others[due] -= othersMax + 1
        order = due ? [due, ...allowed.filter((lane) => lane !== due)] : allowed
        return order
      },
      served: (lane) => {
        last = lane
        // That of the first lane is already counted.
        if (lane !== order[0] && lane !== 'interactive') this.#others[lane] = 0
      },
    }
  }
}
