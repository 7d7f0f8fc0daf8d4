import { integer } from './setting.ts'

/** The setting of a service that keeps serving after it was asked to stop, until those who route to it know. */
export const shutdownDelay = (name: string) =>
  integer(name, {
    help: 'time between the signal to stop and the stop, in which it still serves; a kept connection ends with its next response',
    unit: 'ms',
    fallback: 0,
    min: 0,
    max: 600_000,
  })
