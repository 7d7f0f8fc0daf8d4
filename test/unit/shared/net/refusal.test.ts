import t from 'tap'
import { parseRefusal, refusals } from '#shared/net/refusal.ts'

t.test('refusal: parses each refusal and nothing else', async (t) => {
  for (const refusal of refusals) t.equal(parseRefusal(refusal), refusal)
  for (const value of [undefined, '', 'BLOCKED', 'blocked, blocked']) t.equal(parseRefusal(value), undefined)
})
