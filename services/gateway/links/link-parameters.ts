import { validationError } from '#gateway/http/errors.ts'
import type { LinkParameters } from './render-link.ts'

/** A value as a query has it: text, numbers and flags as they are, lists and objects as JSON. */
const toText = (name: string, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!name.isWellFormed() || !text.isWellFormed()) throw validationError({ [name]: ['must be well-formed Unicode'] })
  return text
}

/** Converts the parameters of a capture to those of a link. `expires`: Unix time in seconds. Throws `VALIDATION_ERROR` for broken Unicode. */
export const toLinkParameters = (
  capture: Readonly<Record<string, unknown>>,
  own: { readonly keyId: string; readonly expires: number | undefined; readonly placeholder: boolean },
): LinkParameters => ({
  ...Object.fromEntries(Object.entries(capture).map(([name, value]) => [name, toText(name, value)])),
  key_id: own.keyId,
  ...(own.expires !== undefined && { expires: String(own.expires) }),
  ...(own.placeholder && { placeholder: 'true' }),
})
