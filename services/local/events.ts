const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** Progress of the one-machine start: writes each event as a line for people. */
export const createLocalEvents = (write: (line: string) => void) => ({
  step: (what: string, tookMs: number) => write(`${what} (${seconds(tookMs)})`),
  down: (name: string, why: string, waitMs: number) =>
    write(`${name} is down: ${why}; it is started again in ${seconds(waitMs)}`),
  back: (name: string, pid: number) => write(`${name} is back as process ${pid}`),
  /** A setting disables a default protection; logged at every start. */
  unsafe: (setting: string, what: string) => write(`warning: ${setting}: ${what}`),
  stopping: () => write('stopping: running captures finish first'),
  stopped: (name: string, tookMs: number) => write(`${name} has stopped (${seconds(tookMs)})`),
})

/** See `createLocalEvents`. */
export type LocalEvents = ReturnType<typeof createLocalEvents>
