import { AppError } from '#shared/errors/app-error.ts'

/** Longest wait of one request. */
const secondsMax = 60

/** Reads `wait`, whole seconds from 0 to 60; 0 where it is not given. Throws `VALIDATION_ERROR` on anything else. */
export const waitSeconds = (given: string | undefined): number => {
  if (given === undefined) return 0
  if (/^\d{1,3}$/.test(given) && Number(given) <= secondsMax) return Number(given)
  const fault = `must be a whole number from 0 to ${secondsMax}`
  throw new AppError('VALIDATION_ERROR', { details: { wait: [fault] } })
}
