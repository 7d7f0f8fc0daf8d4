/** Milliseconds that an attempt may take on top of the caller's `timeout` and `delay`, by the contract. */
const budgetSlackMs = 20_000

/**
 * Milliseconds at the end of a budget that are not the worker's: by then its report is stored, or nobody waits for it, and
 * what is left is for the ledger to write the end down within the budget.
 */
export const ledgerMarginMs = 2000

/** Milliseconds before the end of a budget by which each step of its attempt is over. */
export const endsBeforeMs = {
  /** The report is stored, or is given up. */
  report: ledgerMarginMs,
  /** The image is stored, or is given up. */
  store: ledgerMarginMs + 500,
  /** Host and browser are ended, unless they have reported. */
  browser: ledgerMarginMs + 3000,
  /** The host has given the page up, and reports why. */
  page: ledgerMarginMs + 3500,
} as const

/** Milliseconds in which a page must open: what a budget has until its `page` is over, beside `timeout` and `delay`. */
export const openMs = budgetSlackMs - endsBeforeMs.page

/** Most attempts of one capture; more than one only where a worker died or was taken away. */
export const maxAttempts = 3

/** Attempts that may begin and never end: after as many the capture fails, since whatever ended them may be its page. */
export const unendedMax = 2

/** Most times that one attempt is handed back since its browser ended or its connections broke, with nothing else amiss. */
export const handBacksMax = 3

/** Milliseconds from the start of an attempt to its terminal status; `timeout` 5 to 60 s, `delay` 0 to 10 s. */
export const attemptBudgetMs = (options: { timeout: number; delay: number }): number =>
  (options.timeout + options.delay) * 1000 + budgetSlackMs
