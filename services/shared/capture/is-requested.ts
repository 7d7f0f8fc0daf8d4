import { defaultOf, type ParameterName } from './options.ts'

const isEmpty = (value: unknown): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Whether a supplied value requests anything: it is neither the parameter's default nor empty. */
export const isRequested = (name: ParameterName, value: unknown): boolean =>
  value !== undefined && value !== defaultOf(name) && !isEmpty(value)
