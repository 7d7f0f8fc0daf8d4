/** Bounds of a back-off, in milliseconds. */
export type BackOff = { readonly firstMs: number; readonly lastMs: number }

/** Milliseconds to wait after `failures` consecutive failures: `firstMs` for 0, doubled with each, at most `lastMs`. */
export const backOffMs = ({ firstMs, lastMs }: BackOff, failures: number): number =>
  Math.min(lastMs, firstMs * 2 ** failures)
