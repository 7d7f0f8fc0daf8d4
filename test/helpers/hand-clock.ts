import type { Clock } from '#controller/kube/clock.ts'

type Timer = { readonly dueMs: number; readonly order: number; readonly run: () => void; isOff: boolean }

/** A clock that only a test advances. */
export type HandClock = Clock & {
  /** Advances by `ms`: runs due timers in order, and all work that follows from each before the next. */
  readonly advance: (ms: number) => Promise<void>
  /** Advances by `ms` without running timers, as in a stopped process. */
  readonly freeze: (ms: number) => void
}

const defaultTurns = 5

/** Runs all work that does not wait for time, for up to `turns` turns of the event loop. */
export const settle = async (turns = defaultTurns): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((wake) => setImmediate(wake))
}

const isBefore = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order)

/** A binary heap of timers by due time. */
const createTimers = () => {
  const heap: Timer[] = []
  const swapUp = (from: number) => {
    for (let index = from; index > 0;) {
      const above = (index - 1) >> 1
      const [timer, parent] = [heap[index] as Timer, heap[above] as Timer]
      if (!isBefore(timer, parent)) return
      heap[index] = parent
      heap[above] = timer
      index = above
    }
  }
  const swapDown = () => {
    for (let index = 0; ;) {
      const below = [2 * index + 1, 2 * index + 2].filter((each) => each < heap.length)
      const least = below.reduce(
        (best, each) => (isBefore(heap[each] as Timer, heap[best] as Timer) ? each : best),
        index,
      )
      if (least === index) return
      const [timer, child] = [heap[index] as Timer, heap[least] as Timer]
      heap[index] = child
      heap[least] = timer
      index = least
    }
  }
  return {
    add: (timer: Timer) => swapUp(heap.push(timer) - 1),
    /** Removes and returns the next timer due by `endMs`; undefined if there is none. */
    take: (endMs: number): Timer | undefined => {
      for (let next = heap[0]; next && (next.isOff || next.dueMs <= endMs); next = heap[0]) {
        const last = heap.pop() as Timer
        if (heap.length > 0) {
          heap[0] = last
          swapDown()
        }
        if (!next.isOff) return next
      }
      return undefined
    },
  }
}

/** Creates a clock at 0. Each timer gets `turns` turns of the event loop before time advances. */
export const createHandClock = ({ turns = defaultTurns } = {}): HandClock => {
  const timers = createTimers()
  let nowMs = 0
  let order = 0

  return {
    nowMs: () => nowMs,
    date: () => new Date(Date.UTC(2026, 0, 1) + nowMs),
    after: (waitMs, run) => {
      order += 1
      const timer = { dueMs: nowMs + waitMs, order, run, isOff: false }
      timers.add(timer)
      return {
        [Symbol.dispose]: () => {
          timer.isOff = true
        },
      }
    },
    advance: async (ms) => {
      const endMs = nowMs + ms
      await settle(turns)
      for (let timer = timers.take(endMs); timer; timer = timers.take(endMs)) {
        nowMs = Math.max(nowMs, timer.dueMs)
        timer.run()
        await settle(turns)
      }
      nowMs = endMs
      await settle(turns)
    },
    freeze: (ms) => {
      nowMs += ms
    },
  }
}
