import type { Static } from 'typebox'
import { type Scope, scopes } from '#shared/policy/scopes.ts'
import {
  component,
  enumSchema,
  id,
  list,
  named,
  object,
  orNull,
  text,
  timestamp,
  typed,
} from '#shared/schema/fields.ts'
import { inEnvelope } from './envelope.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

/** Most keys in a list. */
export const keysMax = 1000

/** Most domains of a key. */
export const domainsMax = 100

const scopesHint = `a list of one or more of ${scopes.join(', ')}`

/** The scopes of a key to be created. */
export const newKeyScopes = typed<readonly Scope[]>({
  type: 'array',
  items: enumSchema(scopes, undefined, { expected: scopesHint }),
  maxItems: scopes.length,
  documented: { minItems: 1 },
  expected: scopesHint,
  description:
    'What the key may do: `capture` accepts captures and gets their results, `read` reads everything of the account, `manage` changes keys and webhooks, deletes and redelivers. Default: what the key that creates it may do; in the console everything.',
})

const fields = {
  id: id('Id of the key.', exampleIds.key),
  name: text('Name of the key.', { example: 'Production' }),
  prefix: text('First characters of the key, to recognize it.', { example: 'sk_live_Ab3d' }),
  domains: list(
    text('A host, or `*.` and a host for all below it.', { example: '*.example.com' }),
    domainsMax,
    'Hosts from whose pages the key may be used; empty: from anywhere.',
  ),
  scopes: list(
    enumSchema(
      scopes,
      '`capture`: accepts captures and gets their results; `read`: reads; `manage`: changes and deletes.',
      { example: 'capture' },
    ),
    scopes.length,
    'What the key may do.',
  ),
  expires_at: orNull(timestamp('Time at which the key expires; null: never.')),
  created_at: timestamp('Time of creation.', exampleTimes.created),
  last_used_at: orNull(timestamp('Time of the latest request with the key, to the minute; null before the first.')),
}

const secret = typed<string>({
  type: 'string',
  pattern: '^sk_live_[A-Za-z0-9]{40}$',
  description: 'The key. Returned only in this response.',
  example: `sk_live_Ab3d${'x7Qp'.repeat(9)}`,
})

/** An API key in responses, without the key itself. */
export const apiKey = component('ApiKey', fields)

/** See `apiKey`. */
export type ApiKeyRecord = Static<typeof apiKey>

/** Body of a response with the keys of an account. */
export const apiKeyList = named('ApiKeyList', inEnvelope(list(apiKey, keysMax, 'API keys, newest first.')))

/** Body of a response with a new key. */
export const apiKeyWithSecretAnswer = named('ApiKeyWithSecretAnswer', inEnvelope(object({ ...fields, key: secret })))
