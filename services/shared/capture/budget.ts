import type { CaptureParameters } from './options.ts'

/** Milliseconds that an attempt may take on top of the caller's `timeout` and waits, by the contract. */
const budgetSlackMs = 20_000

/**
 * Milliseconds at the end of a budget that are reserved for the ledger, to record the end of the capture within the
 * budget. By then the worker's report is stored or given up.
 */
export const ledgerMarginMs = 2000

/** Milliseconds before the end of a budget by which each step of its attempt is over. */
export const endsBeforeMs = {
  /** The report is stored or given up. */
  report: ledgerMarginMs,
  /** The image is stored or given up. */
  store: ledgerMarginMs + 500,
  /** Browser host and browser are ended, unless they have reported. */
  browser: ledgerMarginMs + 3000,
  /** The browser host gives up the page, asks whether its browser still runs, and reports why. */
  page: ledgerMarginMs + 4500,
} as const

/** Milliseconds in which a page must open: the budget until `endsBeforeMs.page`, without `timeout` and requested waits. */
export const openMs = budgetSlackMs - endsBeforeMs.page

/** Most attempts of one capture; more than one only if its worker or its browser ended, or the worker was removed. */
export const maxAttempts = 3

/** Attempts without an end after which the capture fails, since its page may be what crashes them. */
export const unendedMax = 2

/** Most times that one attempt is handed back only because its browser ended, its connections broke or its worker did not run. */
export const handBacksMax = 3

/** Most milliseconds that a request may let its page wait. */
export const requestedWaitMsMax = 10_000

type Waits = Pick<CaptureParameters, 'delay_ms' | 'actions'> & Required<Pick<CaptureParameters, 'delay'>>

/** Milliseconds of `delay`, or of `delay_ms`. */
export const totalDelayMs = ({ delay, delay_ms: delayMs = delay * 1000 }: Waits): number => delayMs

/** Milliseconds that a request lets its page wait: the delay, and the times of its actions. */
export const requestedWaitMs = (options: Waits): number =>
  totalDelayMs(options) + (options.actions ?? []).reduce((sum, { milliseconds = 0 }) => sum + milliseconds, 0)

/** Milliseconds from the start of an attempt to its terminal status; `timeout` 5 to 60 s, requested waits 0 to 10 s. */
export const attemptBudgetMs = (options: Waits & { readonly timeout: number }): number =>
  options.timeout * 1000 + requestedWaitMs(options) + budgetSlackMs
