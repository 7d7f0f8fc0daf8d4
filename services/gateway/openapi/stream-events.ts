import { closed, id } from './json-schema.ts'

/** The last event of a stream whose capture or batch was deleted. */
export const deletedEvent = closed({ id: id('Id of what was deleted.') })

/** The last event of a stream whose key is no longer valid. */
export const unauthorizedEvent = closed({
  code: { type: 'string', const: 'INVALID_API_KEY', description: 'As in the envelope of errors.' },
  message: { type: 'string', description: 'What happened, for people.' },
})
