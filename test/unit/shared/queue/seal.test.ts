import t from 'tap'
import { generateSealingKeys, open, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'

const keys = generateSealingKeys()
const others = generateSealingKeys()
const id = '0d9f6c1e-0000-4000-8000-000000000001'

t.test('seal: the private key opens what was sealed to its public key', async (t) => {
  const sealed = seal(readSealingKey(keys.public), id, Buffer.from('a secret cookie'))
  t.notMatch(sealed.toString('latin1'), 'secret cookie')
  t.equal(
    open([readOpeningKey(others.private), readOpeningKey(keys.private)], id, sealed).toString(),
    'a secret cookie',
  )
})

const ephemeralEnd = 9 + 32
const nonceEnd = ephemeralEnd + 12

t.test('seal: two seals of the same text with one key share no nonce and no body', async (t) => {
  const key = readSealingKey(keys.public)
  const [one, two] = [1, 2].map(() => seal(key, id, Buffer.from('same')))
  t.notSame(one?.subarray(ephemeralEnd, nonceEnd), two?.subarray(ephemeralEnd, nonceEnd))
  t.notSame(one?.subarray(nonceEnd), two?.subarray(nonceEnd))
})

t.test('seal: seals within one second share an ephemeral key; the first after it makes another', async (t) => {
  let nowMs = 5000
  const key = readSealingKey(keys.public, () => nowMs)
  const ephemeralOf = () => seal(key, id, Buffer.from('same')).subarray(9, ephemeralEnd).toString('hex')
  const first = ephemeralOf()
  nowMs += 999
  t.equal(ephemeralOf(), first)
  nowMs += 1
  const second = ephemeralOf()
  t.not(second, first)
  t.not(seal(readSealingKey(keys.public), id, Buffer.from('same')).subarray(9, ephemeralEnd).toString('hex'), second)
})

t.test('seal: an ephemeral key is used for a bounded number of seals', async (t) => {
  const { agreed } = readSealingKey(keys.public, () => 5000)
  const first = agreed()
  for (let seals = 1; seals < 100_000; seals += 1) agreed()
  t.not(agreed(), first)
})

t.test('seal: rejects another key, another capture, and every changed byte', async (t) => {
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

t.test('seal: a malformed key text is a configuration error', async (t) => {
  t.throws(() => readSealingKey('nonsense'), { code: 'CONFIGURATION' })
  t.throws(() => readOpeningKey('zz:abc'), { code: 'CONFIGURATION' })
})
