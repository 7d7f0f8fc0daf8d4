import { createHmac, createSecretKey } from 'node:crypto'
import { plainReasons } from '#shared/capture/options.ts'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { decrypt, encrypt } from './encrypt.ts'
import type { FoundCapture, StoredCapture } from './find-capture.ts'
import { deriveResultKey, openDetails } from './result-seal.ts'

/** What a record shows of its request: in memory whole, in a row its plain part and `options.sealed`. */
type RecordedRequest = {
  readonly id: string
  readonly url: string | null
  readonly options: Readonly<Record<string, unknown>>
  /** Receiver of the completion event; in a row as `sealUrl` writes it. */
  readonly webhookUrl?: string | null | undefined
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
  /** Opens a capture with what its result quotes of the page and the request. */
  readonly openCapture: (row: StoredCapture) => FoundCapture
  /** The key under which a worker seals the results of a capture; see `sealDetails`. */
  readonly resultKey: (id: string) => string
  /**
   * Seals the URL of a receiver for the row `id`, from which deliveries copy it: its origin stays plain, because deliveries wait in
   * queues by receiver, and the whole URL is its sealed fragment.
   */
  readonly sealUrl: (id: string, url: string) => string
  /** Opens what `sealUrl` returned; the URL of a bucket, which contains no secret, is returned unchanged. Throws as `openText`. */
  readonly openUrl: (stored: string) => string
}

/** A key of its own for each row, so that the number of seals under one key is not bounded by random nonces (NIST SP 800-38D §8.3). */
const rowKey = ({ secret }: NamedKey, id: string) => createSecretKey(createHmac('sha256', secret).update(id).digest())

/** The plain parameters that a row has in its options; the others have columns. */
const plainOptions = plainReasons.flatMap(([name]) => (name === 'url' || name === 'webhook_url' ? [] : [name]))

/** The origin of a URL; see the reason at the parameter `url`. */
const parseOrigin = (url: string | null) => (url === null ? null : (URL.parse(url)?.origin ?? null))

/** The form of a URL that `sealUrl` wrote: origin, id of the row that it was sealed for, sealed text. */
const sealedUrl = /^https?:\/\/[^/]+\/#(?<id>[\da-f-]{36}):(?<sealed>[\w-]+:[\w+/=]+)$/

/** What is bound to the URL of a row, so that it fits no other sealed text of that row. */
const urlOf = (id: string) => `url ${id}`

/** Seals with the first key, opens with any. */
export const createRecordSeal = (keys: readonly NamedKey[]): RecordSeal => {
  const sealingKey = () => {
    const [key] = keys
    if (!key) throw new AppError('CONFIGURATION', { publicMessage: 'SHUTTERFLEET_RECORD_KEYS contains no key' })
    return key
  }
  const sealText = (id: string, text: string) => {
    const key = sealingKey()
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
  const sealUrl = (id: string, url: string) => `${new URL(url).origin}/#${id}:${sealText(urlOf(id), url)}`
  const openUrl = (stored: string) => {
    const { id, sealed } = sealedUrl.exec(stored)?.groups ?? {}
    return id === undefined || sealed === undefined ? stored : openText(urlOf(id), sealed)
  }
  const open = <T extends RecordedRequest>(row: T): T => {
    const { sealed } = row.options
    if (typeof sealed !== 'string') return row
    const { webhookUrl } = row
    return {
      ...row,
      ...(JSON.parse(openText(row.id, sealed)) as Pick<RecordedRequest, 'url' | 'options'>),
      ...(typeof webhookUrl === 'string' && { webhookUrl: openUrl(webhookUrl) }),
    }
  }
  return {
    sealText,
    openText,
    sealUrl,
    openUrl,
    open,
    resultKey: (id) => deriveResultKey(sealingKey(), id),
    seal: (capture) => {
      const { id, url, options, webhookUrl } = capture
      const plain = plainOptions.flatMap((name) => (name in options ? [[name, options[name]]] : []))
      const sealed = sealText(id, JSON.stringify({ url, options }))
      return {
        ...capture,
        url: parseOrigin(url),
        options: { ...Object.fromEntries(plain), sealed },
        ...(typeof webhookUrl === 'string' && { webhookUrl: sealUrl(id, webhookUrl) }),
      }
    },
    openCapture: (row) => {
      const { sealedResult, error, ...capture } = open(row)
      // Its options were sealed with the same key: if only this one is unknown, the worker has made it up.
      const key = keys.find(({ id }) => sealedResult?.startsWith(`${id}:`))
      const details = key && sealedResult !== null ? openDetails(key, sealedResult) : {}
      const { finalUrl = null, warnings = null, metadata = null, message } = details
      return {
        ...capture,
        finalUrl,
        warnings,
        metadata,
        error: error && { code: error.code, message: message ?? error.message ?? catalog[error.code].publicMessage },
      }
    },
  }
}
