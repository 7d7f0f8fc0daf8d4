import * as fc from 'fast-check'
import t from 'tap'
import { decodableTarget } from '#gateway/http/decodable-target.ts'

t.test(
  'decodable target: escapes the percent signs of a segment that is not percent-encoded UTF-8, and nothing else',
  async (t) => {
    const same = ['/', '/v1/a%20b?x=%zz', '*', '', '/%E2%82%AC/?', '//a']
    for (const target of same) t.equal(decodableTarget(target), target)
    t.equal(decodableTarget('/v1/%zz/%20'), '/v1/%25zz/%20')
    t.equal(decodableTarget('/%ff%20/image?q=%'), '/%25ff%2520/image?q=%')
    t.equal(decodableTarget('/%'), '/%25')
  },
)

t.test(
  'decodable target: replaces the percent signs of a path that is longer than any route, and keeps its segments',
  async (t) => {
    const longest = `/${'a'.repeat(508)}%20`
    t.equal(decodableTarget(longest), longest)
    t.equal(decodableTarget(`${longest}/%?a=%20`), `${longest.replace('%', '_')}/_?a=%20`)
  },
)

t.test('decodable target: the path of every target can be decoded', async () => {
  const texts = fc.string({ unit: fc.constantFrom('%', '2', 'f', 'z', '/', '?', 'é') })
  fc.assert(
    fc.property(texts, (text) => {
      const [path = '', ...query] = decodableTarget(text).split('?')
      const [given = '', ...asked] = text.split('?')
      decodeURIComponent(path)
      return path.split('/').length === given.split('/').length && query.join('?') === asked.join('?')
    }),
  )
})
