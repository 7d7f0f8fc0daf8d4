import { readFile } from 'node:fs/promises'
import { defaultPlans } from './default-plans.ts'
import { type PlanEntry, readPlans } from '#shared/db/read-plans.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'

/** The plan of the account that `up` creates. */
export const firstPlan = 'unlimited'

const read = async (path: string): Promise<PlanEntry[]> => {
  try {
    return readPlans(await readFile(path, 'utf8'))
  } catch (thrown) {
    throw new AppError('CONFIGURATION', {
      publicMessage: `the plans file ${path}: ${toAppError(thrown).message}; see docs/plans.md`,
    })
  }
}

/**
 * The plans of a file, with `unlimited` added if the file lacks it; the default plans if `path` is ''. Throws
 * `CONFIGURATION` with all errors of the file.
 */
export const readPlansFile = async (path: string): Promise<readonly PlanEntry[]> => {
  if (path === '') return defaultPlans
  const plans = await read(path)
  if (plans.some(({ slug }) => slug === firstPlan)) return plans
  return [...plans, ...defaultPlans.filter(({ slug }) => slug === firstPlan)]
}
