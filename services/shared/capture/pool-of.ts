import type { Pool } from './lane.ts'
import type { CaptureParameters } from './options.ts'

/** Browsers that workers drive: the headless shell, and full Chromium, which pages do not detect as automated. */
export const browserKinds = ['shell', 'full'] as const

/** See `browserKinds`. */
export type BrowserKind = (typeof browserKinds)[number]

/** The browsers that the workers of a pool can start. The first is kept warm for captures. */
export const browsersOf: Readonly<Record<Pool, readonly [BrowserKind, ...BrowserKind[]]>> = {
  standard: ['shell'],
  stealth: ['full'],
  proxied: ['shell', 'full'],
}

/** The browser that serves a capture with these parameters. */
export const browserOf = ({ stealth }: Pick<CaptureParameters, 'stealth'>): BrowserKind => (stealth ? 'full' : 'shell')

/** The pool whose workers serve a capture with these parameters: one that can start its browser. */
export const poolOf = ({ proxy, stealth }: Pick<CaptureParameters, 'proxy' | 'stealth'>): Pool => {
  if (proxy !== undefined) return 'proxied'
  return stealth ? 'stealth' : 'standard'
}
