import t from 'tap'
import { generateSealingKeys, open, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'

const keys = generateSealingKeys()
const others = generateSealingKeys()
const id = '0d9f6c1e-0000-4000-8000-000000000001'

t.test('opens with the private key what was sealed to its public key', async (t) => {
  const sealed = seal(readSealingKey(keys.public), id, Buffer.from('a secret cookie'))
  t.notMatch(sealed.toString('latin1'), 'secret cookie')
  t.equal(
    open([readOpeningKey(others.private), readOpeningKey(keys.private)], id, sealed).toString(),
    'a secret cookie',
  )
})

t.test('two seals of the same text have nothing in common after the key id', async (t) => {
  const [one, two] = [1, 2].map(() => seal(readSealingKey(keys.public), id, Buffer.from('same')))
  t.notSame(one?.subarray(9, 60), two?.subarray(9, 60))
})

t.test('refuses another key, another capture, and every changed byte', async (t) => {
  const sealed = seal(readSealingKey(keys.public), id, Buffer.from('x'))
  const mine = [readOpeningKey(keys.private)]
  const refused = { code: 'JOB_FAILED' }
  t.throws(() => open([readOpeningKey(others.private)], id, sealed), refused)
  t.throws(() => open(mine, id.replace('1', '2'), sealed), refused)
  t.throws(() => open(mine, id, sealed.subarray(0, 20)), refused)
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    t.throws(() => open(mine, id, changed), refused, `byte ${index}`)
  }
})

t.test('a malformed key text is a configuration error', async (t) => {
  t.throws(() => readSealingKey('nonsense'), { code: 'CONFIGURATION' })
  t.throws(() => readOpeningKey('zz:abc'), { code: 'CONFIGURATION' })
})
