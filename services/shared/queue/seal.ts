import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'

/** Public half of a pool's key pair; `kid` tells workers which private key opens what it sealed. */
export type SealingKey = { readonly kid: string; readonly key: KeyObject }

/** Private half of a pool's key pair. Workers keep old ones for the longest wait. */
export type OpeningKey = SealingKey

const version = 1
const rawKeyBytes = 32
const ivBytes = 12
const tagBytes = 16
const kidBytes = 8
const headerBytes = 1 + kidBytes + rawKeyBytes + ivBytes

const raw = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')

const fromRaw = (bytes: Buffer) =>
  createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x: bytes.toString('base64url') } })

const agreedKey = (mine: KeyObject, theirs: KeyObject, salt: Buffer) =>
  Buffer.from(
    hkdfSync('sha256', diffieHellman({ privateKey: mine, publicKey: theirs }), salt, 'shutterfleet seal 1', 32),
  )

/** Makes a key pair as two texts: what gateways get (`public`), and what only workers get (`private`). */
export const generateSealingKeys = (): { public: string; private: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  const kid = randomBytes(kidBytes / 2).toString('hex')
  return {
    public: `${kid}:${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
    private: `${kid}:${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`,
  }
}

const split = (text: string) => {
  const [kid = '', body = ''] = text.split(':')
  if (!/^[0-9a-f]{8}$/.test(kid)) throw new AppError('CONFIGURATION', { publicMessage: 'a sealing key is malformed' })
  return { kid, der: Buffer.from(body, 'base64') }
}

/** Reads the public text of `generateSealingKeys`. Throws `CONFIGURATION` where it is malformed. */
export const readSealingKey = (text: string): SealingKey => {
  const { kid, der } = split(text)
  return { kid, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) }
}

/** Reads the private text of `generateSealingKeys`. Throws `CONFIGURATION` where it is malformed. */
export const readOpeningKey = (text: string): OpeningKey => {
  const { kid, der } = split(text)
  return { kid, key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

/** Seals `plain` for whoever holds the private key; `captureId` is bound to it as associated data. */
export const seal = (to: SealingKey, captureId: string, plain: Uint8Array): Buffer => {
  const own = generateKeyPairSync('x25519')
  const ephemeral = raw(own.publicKey)
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', agreedKey(own.privateKey, to.key, ephemeral), iv)
  const header = Buffer.concat([Buffer.from([version]), Buffer.from(to.kid, 'latin1'), ephemeral, iv])
  cipher.setAAD(Buffer.concat([header, Buffer.from(captureId)]))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([header, body, cipher.getAuthTag()])
}

/** Opens what `seal` made. Throws `JOB_FAILED` where no key fits, the id is another's, or a bit was changed. */
export const open = (keys: readonly OpeningKey[], captureId: string, sealed: Buffer): Buffer => {
  if (sealed.length < headerBytes + tagBytes || sealed[0] !== version) {
    throw new AppError('JOB_FAILED', { message: 'sealed part is malformed' })
  }
  const kid = sealed.subarray(1, 1 + kidBytes).toString('latin1')
  const found = keys.find((candidate) => candidate.kid === kid)
  if (!found) throw new AppError('JOB_FAILED', { message: `no private key ${kid} for the sealed part` })
  const header = sealed.subarray(0, headerBytes)
  const ephemeral = header.subarray(1 + kidBytes, 1 + kidBytes + rawKeyBytes)
  try {
    const key = agreedKey(found.key, fromRaw(ephemeral), ephemeral)
    const decipher = createDecipheriv('aes-256-gcm', key, header.subarray(-ivBytes))
    decipher.setAAD(Buffer.concat([header, Buffer.from(captureId)]))
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(headerBytes, -tagBytes)), decipher.final()])
  } catch (cause) {
    throw new AppError('JOB_FAILED', { message: 'sealed part does not open', cause })
  }
}
