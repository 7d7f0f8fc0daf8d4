import { pino } from 'pino'

type WriteLine = { (fields: object, message: string): void; (message: string): void }

/** Structured log of a service: JSON lines on standard error. */
export type Logger = Readonly<Record<'debug' | 'info' | 'warn' | 'error', WriteLine>>

/** Creates the log of a service. Lines contain `service`, `time` in ISO 8601 and `level` as a word. */
export const createLogger = (options: { service: string; level: string }): Logger =>
  pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: true }),
  )
