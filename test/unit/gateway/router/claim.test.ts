import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { claimOf, isProved, nonceBytes, prefixBytes } from '#gateway/router/claim.ts'

const name = createHash('sha256').update('a key').digest()
const nonce = randomBytes(nonceBytes)

t.test('claim: is proved by a cell that has the whole name', async (t) => {
  for (const isServed of [true, false]) t.equal(isProved(claimOf(name, nonce, isServed), name, nonce), true)
})

t.test('claim: is not proved by a prefix of the name, or by what a cell makes up', async (t) => {
  const padded = Buffer.concat([name.subarray(0, prefixBytes), Buffer.alloc(name.length - prefixBytes)])
  for (const guess of [name.subarray(0, prefixBytes), padded, createHash('sha256').update('another key').digest()])
    t.equal(isProved(claimOf(guess, nonce, true), name, nonce), false)
  for (const proof of ['', '00', '0'.repeat(64), name.toString('hex')])
    t.equal(isProved({ proof, isServed: true }, name, nonce), false)
})

t.test('claim: answers its own question, and says whether the account is served', async (t) => {
  t.equal(isProved(claimOf(name, nonce, true), name, randomBytes(nonceBytes)), false, 'another question')
  t.equal(isProved({ ...claimOf(name, nonce, false), isServed: true }, name, nonce), false, 'away, not served')
})
