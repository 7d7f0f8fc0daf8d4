import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'

/** An ephemeral public key and the secret agreed with the pool's key. The ephemeral private key is discarded. */
type Agreement = { readonly ephemeral: Buffer; readonly key: KeyObject }

/** Public half of a pool's key pair; workers choose the private key by `kid`. */
export type SealingKey = {
  readonly kid: string
  /** Returns the agreement for the next seal; all seals of one second share it. */
  readonly agreed: () => Agreement
}

/** Private half of a pool's key pair. Workers keep old ones for the longest wait. */
export type OpeningKey = { readonly kid: string; readonly key: KeyObject }

/** How long seals share an agreement. */
const agreementMs = 1000
/** Far below the 2^32 seals that one key and random nonces allow (NIST SP 800-38D §8.3). */
const agreementSeals = 100_000

const version = 1
const rawKeyBytes = 32
const ivBytes = 12
const tagBytes = 16
const kidBytes = 8
const headerBytes = 1 + kidBytes + rawKeyBytes + ivBytes

const raw = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')

const fromRaw = (bytes: Buffer) =>
  createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x: bytes.toString('base64url') } })

const agreedKey = (mine: KeyObject, peerKey: KeyObject, salt: Buffer): KeyObject => {
  const secret = createSecretKey(diffieHellman({ privateKey: mine, publicKey: peerKey }))
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, 'shutterfleet seal 1', 32)))
}

const agree = (peerKey: KeyObject): Agreement => {
  const own = generateKeyPairSync('x25519')
  const ephemeral = raw(own.publicKey)
  return { ephemeral, key: agreedKey(own.privateKey, peerKey, ephemeral) }
}

const agreeEachSecond = (peerKey: KeyObject, nowMs: () => number): SealingKey['agreed'] => {
  let current: Agreement | undefined
  let until = 0
  let seals = 0
  return () => {
    const now = nowMs()
    if (current === undefined || now >= until || seals >= agreementSeals) {
      current = agree(peerKey)
      until = now + agreementMs
      seals = 0
    }
    seals += 1
    return current
  }
}

/** Generates a key pair as two texts: `public` for gateways, `private` for workers only. */
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

/** Reads the public text of `generateSealingKeys`. Throws `CONFIGURATION` if it is malformed. `nowMs` must be monotonic. */
export const readSealingKey = (text: string, nowMs: () => number = () => performance.now()): SealingKey => {
  const { kid, der } = split(text)
  return { kid, agreed: agreeEachSecond(createPublicKey({ key: der, format: 'der', type: 'spki' }), nowMs) }
}

/** Reads the private text of `generateSealingKeys`. Throws `CONFIGURATION` if it is malformed. */
export const readOpeningKey = (text: string): OpeningKey => {
  const { kid, der } = split(text)
  return { kid, key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

/** Encrypts `plain` for the holder of the private key, with `captureId` as associated data. */
export const seal = (to: SealingKey, captureId: string, plain: Uint8Array): Buffer => {
  const { ephemeral, key } = to.agreed()
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const header = Buffer.concat([Buffer.from([version]), Buffer.from(to.kid, 'latin1'), ephemeral, iv])
  cipher.setAAD(Buffer.concat([header, Buffer.from(captureId)]))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([header, body, cipher.getAuthTag()])
}

/** Decrypts the output of `seal`. Throws `JOB_FAILED` if no key matches, the id differs, or a bit was changed. */
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
