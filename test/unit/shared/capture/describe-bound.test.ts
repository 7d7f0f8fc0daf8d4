import t from 'tap'
import { type Bound, describeFault } from '#shared/capture/describe-bound.ts'

const rows: readonly (readonly [name: string, bound: Bound, value: unknown, message: string])[] = [
  ['a number', { type: 'integer', minimum: 1, maximum: 9 }, 10, 'must be a whole number from 1 to 9, not 10'],
  [
    'text for a number',
    { type: 'integer', minimum: 1, maximum: 9 },
    '3',
    'must be a whole number from 1 to 9, not "3"',
  ],
  ['null', { type: 'boolean' }, null, 'must be true or false, not null'],
  ['another word', { type: 'string', enum: ['a', 'b'] }, 'c', 'must be one of a, b, not "c"'],
  [
    'a word with a typing error',
    { enum: ['iphone 15'] },
    'iphon 15',
    'must be one of iphone 15, not "iphon 15"; did you mean iphone 15?',
  ],
  ['a long word', { enum: ['a'] }, 'c'.repeat(50), `must be one of a, not "${'c'.repeat(40)}"…`],
  ['a list', { type: 'object', maxProperties: 3 }, ['x'], 'must be an object of at most 3 entries, not a list'],
  ['an object', { type: 'string', expected: 'a string' }, { x: 1 }, 'must be a string, not an object'],
  ['a number for free text', { type: 'string', expected: 'a value' }, 1234, 'must be a value, not a number'],
  ['free text, which may be a secret', { type: 'string', expected: 'a proxy' }, 'http://u:pw@h', 'must be a proxy'],
]

t.test('describe bound: a fault has the value that was sent, unless it is free text', async (t) => {
  for (const [name, bound, value, message] of rows) t.equal(describeFault(bound, value), message, name)
})
