type Entry<Event> = { readonly atMs: number; readonly order: number; readonly event: Event }

const isBefore = <Event>(one: Entry<Event>, other: Entry<Event>): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)

/** A binary heap of events by time; those of the same time come in the order in which they were added. */
export class EventQueue<Event> {
  readonly #heap: Entry<Event>[] = []
  #order = 0

  /** Time of the first event; `Infinity` without any. */
  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY
  }

  add(atMs: number, event: Event): void {
    const heap = this.#heap
    const entry = { atMs, order: (this.#order += 1), event }
    let place = heap.push(entry) - 1
    for (;;) {
      const parent = (place - 1) >> 1
      const above = heap[parent]
      if (!above || !isBefore(entry, above)) break
      heap[place] = above
      place = parent
    }
    heap[place] = entry
  }

  /** Removes the first event; undefined without any. */
  take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || first === undefined || heap.length === 0) return first?.event
    let place = 0
    for (;;) {
      const left = heap[place * 2 + 1]
      const right = heap[place * 2 + 2]
      if (!left) break
      const isRight = right !== undefined && isBefore(right, left)
      const next = isRight ? right : left
      if (!isBefore(next, last)) break
      heap[place] = next
      place = place * 2 + (isRight ? 2 : 1)
    }
    heap[place] = last
    return first.event
  }
}
