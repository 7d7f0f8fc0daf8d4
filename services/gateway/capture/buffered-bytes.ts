/** Counts the bytes of images that are held in memory, over all answers together. */
export type BufferedBytes = {
  /** Whether so many more may be held. */
  readonly fits: (bytes: number) => boolean
  /** Counts bytes as held until it is disposed of. */
  readonly hold: (bytes: number) => Disposable
  readonly count: () => number
}

/** Makes a count that should not go beyond `bytesMax`; it is asked before an image is read. */
export const createBufferedBytes = (bytesMax: number): BufferedBytes => {
  let held = 0
  return {
    fits: (bytes) => held + bytes <= bytesMax,
    hold: (bytes) => {
      held += bytes
      return { [Symbol.dispose]: () => void (held -= bytes) }
    },
    count: () => held,
  }
}
