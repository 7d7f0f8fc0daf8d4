import type { Clock } from '#controller/kube/clock.ts'

type Timer = { readonly dueMs: number; readonly order: number; readonly run: () => void; isOff: boolean }

/** A clock whose time passes only when a test says so. */
export type HandClock = Clock & {
  /** Lets `ms` pass: runs what falls due in its order, and all that follows from each before the next. */
  readonly advance: (ms: number) => Promise<void>
  /** Lets `ms` pass in which nothing runs, as for a process that is stopped. */
  readonly freeze: (ms: number) => void
}

const usualTurns = 5

/** Lets everything run that waits for no time, as far as it takes so many turns of the event loop. */
export const settle = async (turns = usualTurns): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((wake) => setImmediate(wake))
}

const isBefore = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order)

/** Timers of which the one that falls due next is found at once: a binary heap. */
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
    /** Takes the next out that is due by `endMs`; undefined where none is. */
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

/** Makes a clock that stands at 0. What runs gets so many turns of the event loop before time goes on. */
export const createHandClock = ({ turns = usualTurns } = {}): HandClock => {
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
