import type { Pool } from './lane.ts'
import type { CaptureParameters } from './options.ts'

/** The pools to which captures are given. */
export type ServedPool = Exclude<Pool, 'stealth'>

/** The pool whose workers serve a capture with these parameters. */
export const poolOf = ({ proxy }: Pick<CaptureParameters, 'proxy'>): ServedPool =>
  proxy === undefined ? 'standard' : 'proxied'
