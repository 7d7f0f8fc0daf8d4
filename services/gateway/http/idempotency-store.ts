import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Sql } from '#shared/db/connection.ts'
import {
  type ClaimedRequest,
  claimAnswer,
  giveBackKey,
  keepAnswer,
  type KeyedRequest,
} from '#gateway/db/kept-answers.ts'

/** An answer of JSON, as it is given again. */
export type KeptAnswer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> }

/** What becomes of a request that may have come before; `claimed`: it is the caller's to serve. */
export type ClaimedAnswer =
  | { readonly outcome: 'claimed'; readonly claimedAt: string }
  | { readonly outcome: 'running' | 'mismatch' }
  | { readonly outcome: 'kept'; readonly answer: KeptAnswer }

/** The answers of requests that came with an `Idempotency-Key` and accept no capture. All throw `SERVICE_UNAVAILABLE` where the database does not answer. */
export type IdempotencyStore = {
  readonly claim: (request: KeyedRequest) => Promise<ClaimedAnswer>
  readonly keep: (request: ClaimedRequest, answer: KeptAnswer) => Promise<void>
  readonly giveBack: (request: ClaimedRequest) => Promise<void>
}

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Answers hold secrets that are shown once, so the database has them sealed, each to its request. */
const createSeal = (pepper: string) => {
  const secret = Buffer.from(hkdfSync('sha256', pepper, '', 'shutterfleet kept answers', 32))
  const boundTo = ({ accountId, key, requestSha256 }: KeyedRequest) =>
    Buffer.from(JSON.stringify([accountId, key, requestSha256.toString('hex')]))
  return {
    seal: (request: KeyedRequest, answer: KeptAnswer): Buffer => {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, secret, iv).setAAD(boundTo(request))
      const sealed = [cipher.update(JSON.stringify(answer)), cipher.final()]
      return Buffer.concat([iv, cipher.getAuthTag(), ...sealed])
    },
    open: (request: KeyedRequest, sealed: Buffer): KeptAnswer => {
      const [iv, tag] = [sealed.subarray(0, ivBytes), sealed.subarray(ivBytes, ivBytes + tagBytes)]
      const decipher = createDecipheriv(algorithm, secret, iv).setAAD(boundTo(request)).setAuthTag(tag)
      const opened = Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()])
      return JSON.parse(opened.toString()) as KeptAnswer
    },
  }
}

/** The answers that a database keeps, sealed under the secret with which keys are hashed. */
export const idempotencyStoreIn = (database: Sql, pepper: string): IdempotencyStore => {
  const { seal, open } = createSeal(pepper)
  return {
    claim: async (request) => {
      const claim = await claimAnswer(database, request)
      return claim.outcome === 'kept' ? { ...claim, answer: open(request, claim.answer) } : claim
    },
    keep: (request, answer) => keepAnswer(database, request, seal(request, answer)),
    giveBack: (request) => giveBackKey(database, request),
  }
}
