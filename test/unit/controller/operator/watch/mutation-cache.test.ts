import t from 'tap'
import { createMutationCache } from '#controller/operator/watch/mutation-cache.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'

t.test('mutation cache: a write of this process counts until the informer is as new', async (t) => {
  const own = createMutationCache<string>(createHandClock())
  t.equal(own.newerThan('a', '5'), undefined)
  own.remember('a', '7', 'mine')
  t.equal(own.newerThan('a', '6'), 'mine')
  t.equal(own.newerThan('a', undefined), 'mine', 'although the cache lacks the object')
  t.equal(own.newerThan('a', '7'), undefined)
  t.equal(own.newerThan('a', '6'), undefined, 'no longer after that')
})

t.test('mutation cache: a write counts for ten seconds at most', async (t) => {
  const clock = createHandClock()
  const own = createMutationCache<string>(clock)
  own.remember('a', '7', 'mine')
  await clock.advance(9999)
  t.equal(own.newerThan('a', '6'), 'mine')
  await clock.advance(1)
  t.equal(own.newerThan('a', '6'), undefined)
})

t.test('mutation cache: a deleted object is removed', async (t) => {
  const own = createMutationCache<string>(createHandClock())
  own.remember('a', '7', 'mine')
  own.forget('a')
  t.equal(own.newerThan('a', '6'), undefined)
})

t.test('mutation cache: expired writes are removed', async (t) => {
  const clock = createHandClock()
  const own = createMutationCache<string>(clock)
  for (let write = 0; write < 100; write += 1) {
    own.remember(`gone-${write}`, '7', 'mine')
    own.remember('kept', String(write), 'mine')
    await clock.advance(1000)
  }
  t.equal(own.size(), 11)
  t.equal(own.newerThan('kept', '98'), 'mine')
})
