import type { TAP } from 'tap'
import { simulateTime } from '#test/helpers/simulated-process.ts'

/** As in `make test-faults`; or what the runner gives each file, as where the simulations have hardly any processor time. */
const timeoutMs = Math.max(900, Number(process.env['TAP_TIMEOUT'] ?? 0)) * 1000

const leaveDomain = ({ hook, hookDomain }: Pick<TAP, 'hook' | 'hookDomain'>) => {
  hook.onDestroy?.()
  hookDomain.destroy()
}

/**
 * Prepares the process of a test file for worlds. Tap creates a domain per test, whose async hook is called for every promise:
 * in worlds, that takes about a quarter of the CPU time. Without domains an unhandled rejection ends the
 * process and fails its file instead of one test.
 */
export const prepareForWorlds = (t: TAP): void => {
  t.setTimeout(timeoutMs)
  simulateTime()
  // The first test would do this: it makes tap create the domain of the whole file.
  t.pipe(process.stdout)
  leaveDomain(t)
  t.on('subtestAdd', leaveDomain)
}
