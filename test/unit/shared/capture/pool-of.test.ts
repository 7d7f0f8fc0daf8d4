import t from 'tap'
import { browserOf, browsersOf, poolOf } from '#shared/capture/pool-of.ts'

const proxy = 'http://p.example.com:1'

t.test("pool of: a caller's proxy decides the pool first, then stealth", async (t) => {
  t.equal(poolOf({}), 'standard')
  t.equal(poolOf({ stealth: false }), 'standard')
  t.equal(poolOf({ stealth: true }), 'stealth')
  t.equal(poolOf({ proxy }), 'proxied')
  t.equal(poolOf({ proxy, stealth: true }), 'proxied')
})

t.test('pool of: every capture goes to a pool whose workers can start its browser', async (t) => {
  for (const parameters of [{}, { stealth: true }, { proxy }, { proxy, stealth: true }]) {
    t.ok(browsersOf[poolOf(parameters)].includes(browserOf(parameters)), JSON.stringify(parameters))
  }
  t.equal(browserOf({ stealth: true }), 'full')
  t.equal(browserOf({}), 'shell')
})
