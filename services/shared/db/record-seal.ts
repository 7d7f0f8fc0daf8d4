import { createHmac, createSecretKey } from 'node:crypto'
import { plainReasons } from '#shared/capture/options.ts'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { decrypt, encrypt } from './encrypt.ts'

/** What a record shows of its request: in memory whole, in a row its plain part and `options.sealed`. */
type RecordedRequest = {
  readonly id: string
  readonly url: string | null
  readonly options: Readonly<Record<string, unknown>>
}

/** Encrypts what the database stores of a request, for all services that show records, and decrypts it. */
export type RecordSeal = {
  /** Encrypts a text, bound to the id of its row. */
  readonly sealText: (id: string, text: string) => string
  /** Opens the result of `sealText`. Throws `SERVER_ERROR` if its key is missing, the id differs, or a bit was changed. */
  readonly openText: (id: string, sealed: string) => string
  /** Reduces url and options to what is stored in plain text, and adds the whole, encrypted. */
  readonly seal: <T extends RecordedRequest>(capture: T) => T
  /** Opens the url and options of a row; one that was stored before records were sealed is returned unchanged. */
  readonly open: <T extends RecordedRequest>(row: T) => T
}

/** A key of its own for each row, so that the number of seals under one key is not bounded by random nonces (NIST SP 800-38D §8.3). */
const rowKey = ({ secret }: NamedKey, id: string) => createSecretKey(createHmac('sha256', secret).update(id).digest())

/** The plain parameters that a row has in its options; the others have columns. */
const plainOptions = plainReasons.flatMap(([name]) => (name === 'url' || name === 'webhook_url' ? [] : [name]))

/** The origin of a URL; see the reason at the parameter `url`. */
const parseOrigin = (url: string | null) => (url === null ? null : (URL.parse(url)?.origin ?? null))

/** Seals with the first key, opens with any. */
export const createRecordSeal = (keys: readonly NamedKey[]): RecordSeal => {
  const sealText = (id: string, text: string) => {
    const [key] = keys
    if (!key) throw new AppError('CONFIGURATION', { publicMessage: 'SHUTTERFLEET_RECORD_KEYS contains no key' })
    return `${key.id}:${encrypt(rowKey(key, id), id, text).toString('base64')}`
  }
  const openText = (id: string, sealed: string) => {
    const [keyId, body = ''] = sealed.split(':')
    const key = keys.find((each) => each.id === keyId)
    if (!key) throw new AppError('SERVER_ERROR', { message: `no key ${keyId} in SHUTTERFLEET_RECORD_KEYS opens ${id}` })
    try {
      return decrypt(rowKey(key, id), id, Buffer.from(body, 'base64'))
    } catch (cause) {
      throw new AppError('SERVER_ERROR', { message: `the sealed part of ${id} does not open`, cause })
    }
  }
  return {
    sealText,
    openText,
    seal: (capture) => {
      const { id, url, options } = capture
      const plain = plainOptions.flatMap((name) => (name in options ? [[name, options[name]]] : []))
      const sealed = sealText(id, JSON.stringify({ url, options }))
      return { ...capture, url: parseOrigin(url), options: { ...Object.fromEntries(plain), sealed } }
    },
    open: (row) => {
      const { sealed } = row.options
      if (typeof sealed !== 'string') return row
      return { ...row, ...(JSON.parse(openText(row.id, sealed)) as Pick<RecordedRequest, 'url' | 'options'>) }
    },
  }
}
