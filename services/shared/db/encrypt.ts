import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Encrypts a text for a row, with associated data that ties it to the row. The key has 32 bytes. */
export const encrypt = (key: KeyObject, associatedData: string, text: string): Buffer => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(associatedData))
  const body = [cipher.update(text, 'utf8'), cipher.final()]
  return Buffer.concat([iv, cipher.getAuthTag(), ...body])
}

/** Decrypts the result of `encrypt`. Throws if the key or the associated data differ, or a bit was changed. */
export const decrypt = (key: KeyObject, boundTo: string, encrypted: Buffer): string => {
  const [iv, tag] = [encrypted.subarray(0, ivBytes), encrypted.subarray(ivBytes, ivBytes + tagBytes)]
  const decipher = createDecipheriv(algorithm, key, iv).setAAD(Buffer.from(boundTo)).setAuthTag(tag)
  return Buffer.concat([decipher.update(encrypted.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
}
