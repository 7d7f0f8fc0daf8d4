import { toAppError } from '#shared/errors/app-error.ts'
import { consentRules, readLists } from './read-lists.ts'

/** Prints the lists of workers as JSON, or the error. Argument: an operator's folder ('' for none). */
try {
  const { version, modifiedMs } = consentRules()
  const lists = [
    ...(await readLists(process.argv[2] ?? '')),
    { kind: 'cookies', name: 'autoconsent', version, modifiedMs },
  ]
  process.stdout.write(JSON.stringify(lists, ['kind', 'name', 'version', 'modifiedMs']))
} catch (error) {
  process.stderr.write(toAppError(error).message)
  process.exitCode = 1
}
