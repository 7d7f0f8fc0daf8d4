/** Base first, then the version under test. */
export type Pair<T> = readonly [T, T]

/** An order of turns in which a steady drift of the machine falls on both alike. */
export const turnOrder = [0, 1, 1, 0] as const

/** The version under test first, then base; or back. */
export const swap = <T>([first, second]: Pair<T>): Pair<T> => [second, first]

/** Does the same on both at once. Rejects, once both have ended, where one failed. */
export const onBoth = async <T, R>(pair: Pair<T>, act: (each: T) => Promise<R>): Promise<Pair<R>> => {
  const acts = [act(pair[0]), act(pair[1])] as const
  await Promise.allSettled(acts)
  return await Promise.all(acts)
}
