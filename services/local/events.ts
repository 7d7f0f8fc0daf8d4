import type { PartWatcher } from './supervise.ts'

/** Progress of the one-machine start, one line each. */
export type LocalEvents = {
  /** A step of the start is done. */
  readonly step: (what: string, tookMs: number) => void
  readonly down: PartWatcher['down']
  readonly back: (name: string, pid: number) => void
  /** A setting disables a default protection; logged at every start. */
  readonly unsafe: (setting: string, what: string) => void
  readonly stopping: () => void
  readonly stopped: (name: string, tookMs: number) => void
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** Writes each event as a line for people. */
export const createLocalEvents = (write: (line: string) => void): LocalEvents => ({
  step: (what, tookMs) => write(`${what} (${seconds(tookMs)})`),
  down: (name, why, waitMs) => write(`${name} is down: ${why}; it is started again in ${seconds(waitMs)}`),
  back: (name, pid) => write(`${name} is back as process ${pid}`),
  unsafe: (setting, what) => write(`warning: ${setting}: ${what}`),
  stopping: () => write('stopping: running captures finish first'),
  stopped: (name, tookMs) => write(`${name} has stopped (${seconds(tookMs)})`),
})
