import { toAppError } from '#shared/errors/app-error.ts'
import { consentRules, readLists } from './read-lists.ts'

/** Prints which lists workers block by, as JSON, or why there are none. Takes an operator's folder ('' for none). */
try {
  const lists = (await readLists(process.argv[2] ?? '')).map(({ text: _, ...list }) => list)
  const { version, modifiedMs } = consentRules()
  console.log(JSON.stringify([...lists, { kind: 'cookies', name: 'autoconsent', version, modifiedMs }]))
} catch (error) {
  console.error(toAppError(error).message)
  process.exitCode = 1
}
