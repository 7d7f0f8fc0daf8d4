import { pino } from 'pino'

type WriteLine = { (fields: object, message: string): void; (message: string): void }

/** Structured log of a service: JSON lines on standard error. */
export type Logger = Readonly<Record<'debug' | 'info' | 'warn' | 'error', WriteLine>>

/** Clocks give fractions of a millisecond, which no reader of a log needs. */
const roundMs = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'number' && /^ms$|Ms$/.test(name) ? Math.round(value) : value,
    ]),
  )

/** Creates the log of a service. Lines contain `service`, `time` in ISO 8601 and `level` as a word; `ms` and fields `…Ms` are whole numbers. */
export const createLogger = (options: { service: string; level: string }): Logger =>
  pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: roundMs },
    },
    pino.destination({ fd: 2, sync: true }),
  )
