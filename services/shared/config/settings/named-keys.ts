import { createSecretKey, type KeyObject } from 'node:crypto'
import { splitEntries, type Setting, text } from './setting.ts'

/** A symmetric key and its id, which is stored with everything that the key signs or encrypts. */
export type NamedKey = { readonly id: string; readonly secret: KeyObject }

const secretBytesMin = 32

const readKey = (entry: string): NamedKey | undefined => {
  const { id, secret = '' } = /^(?<id>[\w-]{1,32}):(?<secret>[A-Za-z0-9+/]+={0,2})$/.exec(entry)?.groups ?? {}
  const bytes = Buffer.from(secret, 'base64')
  return id === undefined || bytes.length < secretBytesMin ? undefined : { id, secret: createSecretKey(bytes) }
}

/** A setting with keys as ID:KEY: the first signs or encrypts, all verify or decrypt. */
export const namedKeys = (name: string, help: string): Setting<readonly NamedKey[]> => ({
  ...text(name, { help, secret: true }),
  kind: 'list, separated by commas',
  parse: (value) => {
    const keys = splitEntries(value).map(readKey)
    const read = keys.filter((key) => key !== undefined)
    if (keys.length === 0 || read.length < keys.length) {
      return { ok: false, problem: 'must be a list of ID:KEY; ID up to 32 characters, KEY 32 bytes or more in base64' }
    }
    const ids = new Set(read.map(({ id }) => id))
    return ids.size === read.length ? { ok: true, value: read } : { ok: false, problem: 'must name each ID once' }
  },
})

/** The setting of every service that shows records. */
export const recordKeys = namedKeys(
  'RECORD_KEYS',
  'keys with which the options, URLs and results of captures, and the addresses and bodies of webhooks, are encrypted in the database, as ID:KEY with at least 32 bytes in base64, separated by commas; the first encrypts, all decrypt. Without its key a record cannot be shown',
)
