/** Bounds of a back-off, in milliseconds. */
export type BackOffBounds = { readonly firstMs: number; readonly lastMs: number }

/**
 * How long to wait after the `failures`th failure in a row, from 0: doubled each time, and between once and twice that by
 * chance, so that those who failed together do not come back together. Never less than `firstMs`, never more than `lastMs`.
 */
export const backOffMs = (bounds: BackOffBounds, failures: number, random: () => number): number =>
  Math.min(bounds.lastMs / 2, bounds.firstMs * 2 ** failures) * (1 + random())
