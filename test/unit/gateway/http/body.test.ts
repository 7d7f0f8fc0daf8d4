import t from 'tap'
import { isOverstructured } from '#gateway/http/body.ts'

const exceeds = (json: string, most: number) => isOverstructured(Buffer.from(json), most)

t.test('commas, lists and objects count, closing brackets and colons do not', async (t) => {
  const json = '{"a":[1,2],"b":{}}'
  t.same([exceeds(json, 5), exceeds(json, 4)], [false, true])
  t.equal(exceeds('', 0), false)
})

t.test('nothing inside of a text counts, however it is escaped', async (t) => {
  for (const text of ['a,[{', String.raw`\",[`, String.raw`\\`, String.raw`\\\",`, '\u{1f600},']) {
    t.equal(exceeds(`{"${text}":"${text}"}`, 1), false, text)
    t.equal(exceeds(`{"${text}":"${text}",}`, 1), true, text)
  }
  t.equal(exceeds('"[[[[', 0), false, 'a text that does not end')
})
