import { createHmac, timingSafeEqual } from 'node:crypto'
import { isId } from '#shared/db/is-id.ts'
import type { HashKey } from '#gateway/http/identification/identify.ts'
import type { Credential } from './credential.ts'

/** Bytes of a credential's name that a question contains: enough to look it up, too few to claim it. */
export const prefixBytes = 8
/** Bytes of the random part of a question, by which a claim answers no other one. */
export const nonceBytes = 16

/** A cell's answer that an account of it has the credential; `isServed`: it is not moved to or from there just now. */
export type Claim = { readonly proof: string; readonly isServed: boolean }

/** What a cell knows a credential by: the hash of a key or token under its pepper, or the bytes of an id. */
export const credentialName = ({ kind, value }: Credential, hashKey: HashKey): Buffer =>
  (kind === 'link' || kind === 'image') && isId(value) ? Buffer.from(value.replaceAll('-', ''), 'hex') : hashKey(value)

/** Proves that a cell knows the whole name, of which it was asked a prefix only. */
const prove = (name: Buffer, nonce: Buffer, isServed: boolean): Buffer =>
  createHmac('sha256', name)
    .update(isServed ? 'served' : 'away')
    .update(nonce)
    .digest()

/** The claim of a credential for one question. */
export const claimOf = (name: Buffer, nonce: Buffer, isServed: boolean): Claim => ({
  proof: prove(name, nonce, isServed).toString('hex'),
  isServed,
})

/** Whether a claim is of this credential and answers this question. */
export const isProved = ({ proof, isServed }: Claim, name: Buffer, nonce: Buffer): boolean => {
  const [given, expected] = [Buffer.from(proof, 'hex'), prove(name, nonce, isServed)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}
