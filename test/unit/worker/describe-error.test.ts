import t from 'tap'
import { describeError } from '#worker/describe-error.ts'

t.test('joins the messages of an error and its causes, four at most', async (t) => {
  const nested = (depth: number): Error =>
    depth === 1 ? new Error('1') : new Error(String(depth), { cause: nested(depth - 1) })
  t.equal(describeError(nested(2)), '2: 1')
  t.equal(describeError(nested(9)), '9: 8: 7: 6')
  t.equal(describeError('text'), 'text')
  t.equal(describeError({}), 'unknown error')
})
