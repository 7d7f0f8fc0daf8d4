import { listenHost } from './listen-host.ts'
import { splitEntries, port, parsed, type Setting, text } from './setting.ts'

/** A token for the administration, with its name in the audit log. */
export type AdminToken = { readonly name: string; readonly token: string }

/** Fewest characters of a token. */
const adminTokenCharactersMin = 16

const adminToken = parsed(
  'ADMIN_TOKEN',
  {
    help: 'token for the administration, which is off if this and SHUTTERFLEET_ADMIN_TOKENS are empty',
    fallback: '',
    secret: true,
    kind: `text, at least ${adminTokenCharactersMin} characters`,
    problem: `must have at least ${adminTokenCharactersMin} characters`,
  },
  (value) => (value === '' || value.length >= adminTokenCharactersMin ? value : undefined),
)

const nameForm = /^[\w.@-]{1,64}$/

const readEntry = (entry: string): AdminToken | undefined => {
  const [name = '', ...rest] = entry.split(':')
  const token = rest.join(':')
  return nameForm.test(name) && token.length >= adminTokenCharactersMin ? { name, token } : undefined
}

const adminTokens: Setting<readonly AdminToken[]> = {
  ...text('ADMIN_TOKENS', {
    help: 'tokens for the administration in addition to SHUTTERFLEET_ADMIN_TOKEN, each with a name for the audit log, as NAME:TOKEN, separated by commas or white space; a name of up to 64 letters, digits and ._@-, a token of at least 16 characters',
    fallback: '',
    secret: true,
  }),
  kind: 'list, separated by commas',
  parse: (value) => {
    const entries = splitEntries(value)
    const tokens = entries.map(readEntry).filter((entry) => entry !== undefined)
    if (tokens.length < entries.length) {
      const problem = `must be a list of NAME:TOKEN; NAME up to 64 letters, digits and ._@-, TOKEN at least ${adminTokenCharactersMin} characters`
      return { ok: false, problem }
    }
    const distinct = (field: keyof AdminToken) => new Set(tokens.map((token) => token[field])).size === tokens.length
    if (!distinct('name') || !distinct('token')) {
      return { ok: false, problem: 'must have each NAME and each TOKEN once' }
    }
    return { ok: true, value: tokens }
  },
}

/** Settings of the administration. */
export const adminSettings = {
  adminToken,
  adminTokens,
  adminHost: listenHost('ADMIN_HOST', 'address on which the administration listens'),
  adminPort: port('ADMIN_PORT', {
    help: 'port on which the administration listens if it has a token',
    fallback: 8081,
  }),
}
