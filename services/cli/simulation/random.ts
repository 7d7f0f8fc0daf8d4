/** A seeded random generator of numbers in [0, 1) (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A log-normally distributed number. */
export const logNormal = (random: () => number, median: number, sigma: number): number =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))

/** Arrival times of a Poisson process with `perSecond` arrivals on average. */
export const poisson = (random: () => number, load: { fromMs: number; toMs: number; perSecond: number }): number[] => {
  const arrivals: number[] = []
  for (let atMs = load.fromMs; ;) {
    atMs += (-Math.log(1 - random()) / load.perSecond) * 1000
    if (atMs > load.toMs) return arrivals
    arrivals.push(atMs)
  }
}
