import t from 'tap'
import { createRefusal } from '#worker/browser-host/blocking/refuse-requests.ts'

const refused = (patterns: string[], url: string) =>
  createRefusal({ resources: [], patterns }, 'main')?.({ url, resourceType: 'Script', frameId: 'main' })

t.test('refuse requests: a pattern matches whole addresses, or any part of one if it has no *', async (t) => {
  const rows: [pattern: string, url: string, want: boolean][] = [
    ['analytics.js', 'https://a.test/analytics.js?x', true],
    ['*/analytics.js', 'https://a.test/analytics.js', true],
    ['*/analytics.js', 'https://a.test/analytics.js?x', false],
    ['https://CDN.test/*.mp4', 'https://cdn.test/v/1.MP4', true],
    ['https://cdn.test/*.mp4', 'https://other.test/https://cdn.test/1.mp4', false],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['*', 'https://a.test/', true],
    ['*x*y*', '-y-x-y', true],
    ['*x*y*', '-y-x-', false],
  ]
  for (const [pattern, url, want] of rows) t.equal(refused([pattern], url), want, `${pattern} ${url}`)
  t.equal(refused(['no', '*.js'], 'https://a.test/1.js'), true)
})

t.test('refuse requests: kinds of resources are refused, the page itself never is', async (t) => {
  const refuses = createRefusal({ resources: ['image', 'font'], patterns: ['*'] }, 'main')
  const byKind = createRefusal({ resources: ['image', 'font'], patterns: [] }, 'main')
  const url = 'https://a.test/'
  t.equal(refuses?.({ url, resourceType: 'Document', frameId: 'main' }), false)
  t.equal(refuses?.({ url, resourceType: 'Document', frameId: 'child' }), true)
  t.same(
    ['Image', 'Font', 'Script'].map((resourceType) => byKind?.({ url, resourceType, frameId: 'main' })),
    [true, true, false],
  )
  t.equal(createRefusal({ resources: [], patterns: [] }, 'main'), undefined)
})
