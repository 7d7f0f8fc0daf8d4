import { toAppError } from '#shared/errors/app-error.ts'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** Logs the progress of `up`, one human-readable line per event. */
export const createLocalEvents = (write: (line: string) => void) => ({
  step: (what: string, tookMs: number) => write(`${what} (${seconds(tookMs)})`),
  down: (name: string, reason: string, waitMs: number) =>
    write(`${name} is down: ${reason}; restarting in ${seconds(waitMs)}`),
  back: (name: string, pid: number) => write(`${name} is back as process ${pid}`),
  /** The files that say what runs are behind; whatever runs goes on. */
  notWritten: (error: unknown) => write(`warning: ${toAppError(error).message}`),
  /** Warns at every start that a setting disables a default protection. */
  unsafe: (setting: string, what: string) => write(`warning: ${setting}: ${what}`),
  firstCaptureFailed: (reason: string) =>
    write(`warning: the first capture failed: ${reason}; the services run, and 'bin/shutterfleet doctor' checks them`),
  stopping: () => write('stopping: running captures finish first'),
  stopped: (name: string, tookMs: number) => write(`${name} has stopped (${seconds(tookMs)})`),
})

/** See `createLocalEvents`. */
export type LocalEvents = ReturnType<typeof createLocalEvents>

/** The events of one of several cells, whose lines begin with its name. */
export const eventsOf = (cell: string, events: LocalEvents): LocalEvents => ({
  step: (what, tookMs) => events.step(`${cell}: ${what}`, tookMs),
  down: (name, reason, waitMs) => events.down(`${cell}: ${name}`, reason, waitMs),
  back: (name, pid) => events.back(`${cell}: ${name}`, pid),
  notWritten: (error) => events.notWritten(error),
  unsafe: (setting, what) => events.unsafe(setting, what),
  firstCaptureFailed: (reason) => events.firstCaptureFailed(`${cell}: ${reason}`),
  stopping: () => {},
  stopped: (name, tookMs) => events.stopped(`${cell}: ${name}`, tookMs),
})
