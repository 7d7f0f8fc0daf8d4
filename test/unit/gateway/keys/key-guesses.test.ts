import t from 'tap'
import { createKeyGuesses } from '#gateway/keys/key-guesses.ts'

const start = (perMinute: number) => {
  let now = 1000
  const guesses = createKeyGuesses({ perMinute, nowMs: () => now })
  const wait = (client: string, key = 'unknown') =>
    guesses.waitSeconds(
      () => client,
      () => key,
    )
  const guess = (client: string, times: number) => {
    for (let turn = 0; turn < times; turn += 1) guesses.wasWrong(client, `guess ${turn}`)
  }
  const pass = (seconds: number) => {
    now += seconds * 1000
  }
  return { guesses, wait, guess, pass }
}

t.test('as many wrong keys as the bound are judged, then none until the time that is told', async (t) => {
  const { wait, guess, pass } = start(6)
  guess('a', 5)
  t.equal(wait('a'), 0)
  guess('a', 1)
  t.equal(wait('a'), 10)
  pass(9)
  t.equal(wait('a'), 1)
  pass(1)
  t.equal(wait('a'), 0)
  guess('a', 1)
  t.equal(wait('a'), 10)
  pass(600)
  guess('a', 5)
  t.equal(wait('a'), 0, 'after a long time all of the bound is there again, and no more')
  guess('a', 1)
  t.equal(wait('a'), 10)
})

t.test('others are not held back: neither other addresses, nor keys that were good lately', async (t) => {
  const { guesses, wait, guess } = start(3)
  guesses.wasGood('mine')
  guess('a', 3)
  t.same([wait('b'), wait('a', 'mine'), wait('a', 'new')], [0, 0, 20])
  guesses.wasWrong('b', 'mine')
  t.equal(wait('a', 'mine'), 20, 'a key that was revoked is good no more')
})

t.test('nobody is asked who they are while nobody guesses', async (t) => {
  const { guesses } = start(3)
  const never = () => t.fail('asked') as never
  t.equal(guesses.waitSeconds(never, never), 0)
})

t.test('10,000 addresses and keys are remembered, those that were seen last', async (t) => {
  const { guesses, wait, guess } = start(1)
  for (let n = 0; n <= 10_000; n += 1) {
    guess(`client ${n}`, 1)
    guesses.wasGood(`key ${n}`)
  }
  t.same([wait('client 0'), wait('client 1') > 0, wait('client 10000') > 0], [0, true, true])
  t.same([wait('client 2', 'key 0') > 0, wait('client 2', 'key 1')], [true, 0])
})
