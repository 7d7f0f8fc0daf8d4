import { createHook, executionAsyncId } from 'node:async_hooks'
import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { type Fault, runFault } from './world/run.ts'

prepareForWorlds(t)
const nothing: Fault = { name: 'nothing goes wrong', lastsMs: () => 60_000, begin: () => {} }

t.test('nothing wrong: without a fault each capture is begun once and ends once', async (t) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { damages, rows } = await runFault({ seed, fault: nothing })
    t.strictSame(damages, [], `seed ${seed}`)
    t.ok(rows.length > 20, 'captures were accepted')
    t.ok(rows.every(({ attempts, results }) => attempts === 1 && results === 1))
  }
})

t.test('nothing wrong: runs with the same seed have the same outcome', async (t) => {
  const [one, other] = [await runFault({ seed: 1, fault: nothing }), await runFault({ seed: 1, fault: nothing })]
  t.strictSame(one, other)
})

const idAfterPromise = () => Promise.resolve().then(executionAsyncId)

t.test('nothing wrong: no async hook is called for the promises of worlds', async (t) => {
  t.equal(await idAfterPromise(), 0)
})

t.test('planted fault: an enabled async hook is called for promises', async (t) => {
  const hook = createHook({ init: () => {} }).enable()
  t.not(await idAfterPromise(), 0)
  hook.disable()
})
