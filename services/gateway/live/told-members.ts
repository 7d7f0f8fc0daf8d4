/** Most captures of a batch; a bit of the set stands for each. */
const membersMax = 100

/** The places of a batch whose end a client has been told, as the id of an event: it comes back when the client does. */
export type ToldMembers = {
  readonly has: (index: number) => boolean
  readonly add: (index: number) => void
  readonly id: () => string
}

/** Reads the set from the last id that a client has seen; empty where that is none of ours. */
export const toldMembers = (lastEventId: string | undefined): ToldMembers => {
  let bits = /^m[0-9a-f]{1,25}$/.test(lastEventId ?? '') ? BigInt(`0x${lastEventId?.slice(1)}`) : 0n
  const bitOf = (index: number) => (index < membersMax ? 1n << BigInt(index) : 0n)
  return {
    has: (index) => (bits & bitOf(index)) !== 0n,
    add: (index) => {
      bits |= bitOf(index)
    },
    id: () => `m${bits.toString(16)}`,
  }
}
