import { createHmac, createSecretKey } from 'node:crypto'
import { createValidator } from '#shared/capture/check-schema.ts'
import { type ResultDetails, resultDetails } from '#shared/capture/result-details.ts'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'
import { decrypt, encrypt } from './encrypt.ts'

/**
 * The key under which a worker seals the details of one capture's results, as text. The gateway derives it and seals it into the
 * capture: the worker can open nothing else with it, and queue and database cannot open the details.
 */
export const deriveResultKey = ({ id: keyId, secret }: NamedKey, id: string): string =>
  `${keyId}:${createHmac('sha256', secret).update(`result ${id}`).digest('base64')}`

const readKey = (text: string) => createSecretKey(Buffer.from(text.slice(text.indexOf(':') + 1), 'base64'))

/** Seals the details of a result of the capture `id` under its result key. The text names both, because followers share it. */
export const sealDetails = (resultKey: string, id: string, details: ResultDetails): string => {
  const [keyId] = resultKey.split(':')
  return `${keyId}:${id}:${encrypt(readKey(resultKey), id, JSON.stringify(details)).toString('base64')}`
}

const check = createValidator(resultDetails)

/** A page controls the texts: they contain no NUL, and are well-formed Unicode. */
const toPlain = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value

/**
 * Opens what `sealDetails` returned. Empty if it was not sealed with this key for the capture that it names, or is not valid: a
 * compromised worker can report anything, which must not keep the record from being shown.
 */
export const openDetails = (key: NamedKey, sealed: string): ResultDetails => {
  const [, id = '', body = ''] = sealed.split(':')
  try {
    const text = decrypt(readKey(deriveResultKey(key, id)), id, Buffer.from(body, 'base64'))
    const details: unknown = JSON.parse(text, toPlain)
    return check(details) === undefined ? (details as ResultDetails) : {}
  } catch {
    return {}
  }
}
