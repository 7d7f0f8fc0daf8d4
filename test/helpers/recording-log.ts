import type { Logger } from '#shared/telemetry/logger.ts'

/** A line of a log. */
export type LogLine = {
  readonly level: keyof Logger
  /** Empty for a message alone. */
  readonly fields: object
  readonly message: string
}

/** A log that passes each line on. */
export const createRecordingLog = (record: (line: LogLine) => void = () => {}): Logger => {
  const write =
    (level: keyof Logger) =>
    (fields: object | string, message = ''): void =>
      record(typeof fields === 'string' ? { level, fields: {}, message: fields } : { level, fields, message })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
