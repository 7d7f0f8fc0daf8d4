import { validationError } from '#gateway/http/read-parameters.ts'
import { readMoment as readTime } from '#gateway/list/read-moment.ts'

/** The form of a moment in a body: ISO 8601 UTC. */
export const momentForm = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$'

/** Reads a text of that form as the field `name`; `words` say what it may be. Throws `VALIDATION_ERROR` where there is no such moment. */
export const readMoment = (name: string, text: string, words: string): Date => {
  const moment = readTime(text, 'first')
  if (moment !== undefined) return new Date(moment)
  throw validationError({ [name]: [`must be ${words}`] })
}
