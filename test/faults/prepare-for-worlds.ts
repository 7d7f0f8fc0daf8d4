import type { TAP } from 'tap'
import { simulateTime } from '#test/helpers/simulated-process.ts'

const leaveDomain = ({ hook, hookDomain }: Pick<TAP, 'hook' | 'hookDomain'>) => {
  hook.onDestroy?.()
  hookDomain.destroy()
}

/**
 * Prepares the process of a test file for worlds. Tap gives each test a domain, whose async hook is called for every promise:
 * worlds make so many that it took about a quarter of the processor's time. Without domains an error that nobody awaits ends the
 * process, and fails its file, in place of one test.
 */
export const prepareForWorlds = (t: TAP): void => {
  simulateTime()
  // As the first test would do: with it tap makes the domain of the whole file.
  t.pipe(process.stdout)
  leaveDomain(t)
  t.on('subtestAdd', leaveDomain)
}
