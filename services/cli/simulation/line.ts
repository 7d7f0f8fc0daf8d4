import type { Arrival } from './pods.ts'

/** A first-in, first-out list. */
export class Line {
  readonly #waiting: Arrival[] = []
  #head = 0
  get length(): number {
    return this.#waiting.length - this.#head
  }
  get first(): Arrival | undefined {
    return this.#waiting[this.#head]
  }
  push(arrival: Arrival): void {
    this.#waiting.push(arrival)
  }
  shift(): Arrival | undefined {
    const first = this.#waiting[this.#head]
    if (first !== undefined) this.#head += 1
    return first
  }
}
