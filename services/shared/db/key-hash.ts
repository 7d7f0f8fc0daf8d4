import { createHmac, createSecretKey } from 'node:crypto'

/** Returns a function that computes the form in which a key is stored and looked up: its HMAC-SHA256 under the pepper. */
export const createKeyHash = (pepper: string): ((key: string) => Buffer) => {
  const secret = createSecretKey(pepper, 'utf8')
  return (key) => createHmac('sha256', secret).update(key).digest()
}
