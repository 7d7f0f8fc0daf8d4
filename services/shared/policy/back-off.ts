/** Bounds of a back-off, in milliseconds. */
export type BackOff = { readonly firstMs: number; readonly lastMs: number }

/** Milliseconds to wait after so many failures in a row, from 0: doubled with each, never more than `lastMs`. */
export const backOffMs = ({ firstMs, lastMs }: BackOff, failures: number): number =>
  Math.min(lastMs, firstMs * 2 ** failures)
