import t from 'tap'
import { createKeyHash } from '#shared/db/key-hash.ts'

// Contract: Keys at rest
t.test('keys: a key is stored as HMAC-SHA256 under the pepper', async (t) => {
  const hash = createKeyHash('Jefe')('what do ya want for nothing?')
  t.equal(hash.toString('hex'), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843', 'RFC 4231, case 2')
  t.equal(createKeyHash('other')('key').equals(createKeyHash('pepper')('key')), false)
})
