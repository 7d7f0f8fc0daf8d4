import t from 'tap'
import { poolOf } from '#shared/capture/pool-of.ts'

t.test("a caller's proxy alone decides who serves a capture", async (t) => {
  t.equal(poolOf({}), 'standard')
  t.equal(poolOf({ proxy: 'http://p.example.com:1' }), 'proxied')
})
