import type { Client } from './client.ts'

/** Who holds a part of what all share, and which fraction of it at most. */
export type Holder = { readonly kind: 'client' | 'account'; readonly name: string; readonly fraction: number }

/** The bound that was reached: the share of a client or account, or what there is in all. */
export type ReachedBound = Holder['kind'] | 'all'

/** A quarter: four that take all they can leave nothing, but one alone leaves most. */
const fraction = 1 / 4

/** A network holds a quarter, the networks of a site together a half. Of IPv4 both are one address, which holds a quarter. */
export const clientHolders = ({ network, site }: Client): readonly Holder[] => [
  { kind: 'client', name: `network ${network}`, fraction },
  { kind: 'client', name: `site ${site}`, fraction: 2 * fraction },
]

/** An account holds a quarter. */
export const accountHolder = (accountId: string): Holder => ({
  kind: 'account',
  name: `account ${accountId}`,
  fraction,
})

/** Divides an amount, such as places or bytes, among holders, of which none gets more than its share. */
export class Shares {
  readonly #max: number
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  /** What all hold. */
  count(): number {
    return this.#total
  }

  /** Takes an amount for all of its holders until it is disposed, once. At a bound, returns which one. */
  take(amount: number, holders: readonly Holder[]): Disposable | ReachedBound {
    const reached = holders.find((each) => this.#heldBy(each) + amount > this.share(each))
    if (reached) return reached.kind
    if (this.#total + amount > this.#max) return 'all'
    this.#add(amount, holders)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#add(-amount, holders)
        isHeld = false
      },
    }
  }

  /** The most that a holder gets. */
  share(holder: Pick<Holder, 'fraction'>): number {
    return Math.max(1, Math.floor(this.#max * holder.fraction))
  }

  #heldBy({ name }: Holder): number {
    return this.#held.get(name) ?? 0
  }

  #add(amount: number, holders: readonly Holder[]): void {
    this.#total += amount
    for (const holder of holders) {
      const left = this.#heldBy(holder) + amount
      if (left > 0) this.#held.set(holder.name, left)
      else this.#held.delete(holder.name)
    }
  }
}
