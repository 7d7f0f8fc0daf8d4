import t from 'tap'
import { createKeyGuesses } from '#gateway/http/identification/key-guesses.ts'

const start = (perMinute: number) => {
  const clock = { ms: 1000 }
  const valid = new Set<string>()
  const looked: string[] = []
  let held: Promise<void> | undefined
  const guesses = createKeyGuesses({
    perMinute,
    nowMs: () => clock.ms,
    isValid: async (keyHash) => {
      looked.push(keyHash.toString())
      await held
      return valid.has(keyHash.toString())
    },
  })
  const admit = (network: string, key = 'unknown') =>
    guesses.admit(Buffer.from(key), () => ({ network, site: network }))
  const settled = async (network: string, key: string, as: 'good' | 'wrong' | 'unchecked') => {
    const admission = await admit(network, key)
    if ('settle' in admission) admission.settle(as)
    return admission.waitSeconds
  }
  const guess = async (network: string, times: number) => {
    for (let turn = 0; turn < times; turn += 1) await settled(network, `guess ${turn}`, 'wrong')
  }
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return resolve
  }
  return { guesses, clock, valid, looked, admit, settled, guess, hold }
}

t.test('key guesses: checks wrong keys up to the bound, then one per token of the rate', async (t) => {
  const { clock, guess, settled } = start(6)
  await guess('a', 6)
  t.equal(await settled('a', 'next', 'wrong'), 10)
  clock.ms += 9000
  t.equal(await settled('a', 'next', 'wrong'), 1)
  clock.ms += 1000
  t.equal(await settled('a', 'next', 'wrong'), 0)
  t.equal(await settled('a', 'next', 'wrong'), 10)
})

t.test('key guesses: concurrent wrong keys have the same bound as sequential ones', async (t) => {
  const { admit, clock } = start(6)
  const all = await Promise.all(Array.from({ length: 100 }, (_, n) => admit('a', `guess ${n}`)))
  const judged = all.filter((admission) => 'settle' in admission)
  t.equal(judged.length, 6)
  for (const admission of judged) if ('settle' in admission) admission.settle('wrong')
  clock.ms += 10_000
  t.ok('settle' in (await admit('a')), 'and the wait afterwards is that of one key')
})

t.test('key guesses: counts wrong keys only', async (t) => {
  const { settled } = start(1)
  for (let turn = 0; turn < 5; turn += 1) t.equal(await settled('a', 'body too large', 'unchecked'), 0)
  t.equal(await settled('a', 'mine', 'good'), 0)
  t.equal(await settled('a', 'guess', 'wrong'), 0)
  t.equal(await settled('a', 'guess', 'wrong'), 60)
})

t.test(
  'key guesses: serves a valid key from a limited address, without a lookup if it was valid recently',
  async (t) => {
    const { valid, looked, guess, settled } = start(3)
    valid.add('new')
    await settled('a', 'mine', 'good')
    await guess('a', 3)
    t.same([await settled('a', 'mine', 'good'), looked], [0, []])
    t.same([await settled('a', 'new', 'unchecked'), looked], [0, ['new']])
    t.same([await settled('a', 'new', 'good'), looked], [0, ['new']], 'it is looked up once')
    t.equal(await settled('b', 'guess', 'wrong'), 0, 'and other addresses are not limited')
  },
)

t.test('key guesses: looks an invalid key up again only after a second', async (t) => {
  const { clock, valid, looked, guess, settled } = start(1)
  await guess('a', 1)
  const wrong = () => settled('a', 'same', 'wrong')
  t.same([(await wrong()) > 0, (await wrong()) > 0, looked], [true, true, ['same']])
  clock.ms += 1000
  valid.add('same')
  t.same([await settled('a', 'same', 'good'), looked], [0, ['same', 'same']])
})

t.test('key guesses: limits a revoked key like any other; each use counts', async (t) => {
  const { settled } = start(3)
  await settled('a', 'mine', 'good')
  t.equal(await settled('a', 'mine', 'wrong'), 0)
  t.same(
    [await settled('a', '1', 'wrong'), await settled('a', '2', 'wrong'), await settled('a', 'mine', 'wrong')],
    [0, 0, 20],
  )
})

t.test('key guesses: counts each concurrent use of a revoked key, without a longer wait', async (t) => {
  const { admit, settled } = start(3)
  await settled('a', 'mine', 'good')
  const all = await Promise.all(Array.from({ length: 100 }, () => admit('a', 'mine')))
  for (const admission of all) if ('settle' in admission) admission.settle('wrong')
  t.equal(await settled('a', 'guess', 'wrong'), 20)
})

t.test('key guesses: looks up at most 500 keys at a time, and a quarter of them for one client', async (t) => {
  const { valid, looked, guess, admit, hold } = start(1)
  const networks = ['a', 'b', 'c', 'd', 'e']
  for (const network of networks) await guess(network, 1)
  valid.add('mine')
  const release = hold()
  const [own = [], ...others] = networks.map((network) => Array.from({ length: 150 }, () => admit(network, 'mine')))
  t.equal(looked.length, 500)
  t.notOk('settle' in (await own[149]!))
  t.notOk('settle' in (await others[3]![0]!), 'the fifth client finds none left')
  release()
  t.ok('settle' in (await own[124]!))
  t.ok('settle' in (await admit('e', 'mine')))
})

t.test('key guesses: a failed lookup fails its request and frees its slot', async (t) => {
  const guesses = createKeyGuesses({
    perMinute: 1,
    nowMs: () => 0,
    isValid: () => Promise.reject(new Error('away')),
  })
  const admit = () => guesses.admit(Buffer.from('key'), () => ({ network: 'a', site: 'a' }))
  await admit()
  for (let turn = 0; turn < 501; turn += 1) await t.rejects(admit(), { message: 'away' })
})

t.test(
  'key guesses: remembers the 10,000 most recently valid keys, and skips the client address for those',
  async (t) => {
    const { guesses, guess, settled, looked } = start(1)
    for (let n = 0; n <= 10_000; n += 1) await settled(`client ${n}`, `key ${n}`, 'good')
    await guess('a', 1)
    t.equal(await settled('a', 'key 1', 'unchecked'), 0)
    t.ok((await settled('a', 'key 0', 'wrong')) > 0)
    t.same(looked, ['key 0'])
    await guesses.admit(Buffer.from('key 2'), () => {
      throw new Error('the client address was read')
    })
  },
)
