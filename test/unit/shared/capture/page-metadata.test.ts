import t from 'tap'
import { boundMetadata, isAddressTag, type PageMetadata } from '#shared/capture/page-metadata.ts'
import { createValidator } from '#shared/capture/check-schema.ts'
import { resultDetails } from '#shared/capture/result-details.ts'

const findProblem = createValidator(resultDetails)
const isReported = (metadata: PageMetadata) => findProblem({ metadata }) === undefined
const manyTags = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, value]))
const charactersOf = (metadata: PageMetadata): number =>
  Object.entries(metadata).reduce(
    (sum, [name, value]) =>
      sum + name.length + (typeof value === 'string' ? value.length : charactersOf(value as PageMetadata)),
    0,
  )

t.test('page metadata: keeps metadata within the bounds', async (t) => {
  const page = {
    title: 'Größe',
    description: 'x'.repeat(1000),
    canonical: `https://a.com/${'p'.repeat(2034)}`,
    language: 'de-CH',
    favicon: 'http://a.com/i.png',
    og: { image: 'https://a.com/i.png', 'image:width': '10', constructor: 'x' },
    twitter: { card: 'summary' },
  }
  t.strictSame(boundMetadata(page), page)
  t.ok(isReported(page))
  t.strictSame(boundMetadata({}), {})
})

t.test('page metadata: truncates texts between characters, and drops too long addresses and languages', async (t) => {
  const long = 'x'.repeat(3000)
  const bound = boundMetadata({
    title: `${'x'.repeat(498)}😀${long}`,
    description: long,
    canonical: `https://a.com/${long}`,
    favicon: `https://a.com/${long}`,
    language: 'x'.repeat(51),
    og: { title: long, image: `https://a.com/${long}` },
  })
  t.strictSame(bound, {
    title: `${'x'.repeat(498)}…`,
    description: `${'x'.repeat(999)}…`,
    og: { title: `${'x'.repeat(999)}…` },
  })
  t.ok(isReported(bound))
})

t.test('page metadata: keeps at most fifty tags of a kind, with valid names only', async (t) => {
  const bound = boundMetadata({
    og: { ...manyTags(60, 'v') },
    twitter: { 'a b': 'v', ['n'.repeat(65)]: 'v', A: 'v', '': 'v', empty: '', ...manyTags(50, 'v') },
  })
  t.same([Object.keys(bound.og ?? {}).length, Object.keys(bound.twitter ?? {}).length], [50, 50])
  const proto = JSON.parse('{"__proto__":"v","card":"x"}') as Record<string, string>
  t.strictSame(Object.keys(boundMetadata({ og: proto }).og ?? {}), ['card'])
  t.ok(isReported(bound))
})

t.test('page metadata: keeps at most 16,384 characters in total, and drops later entries', async (t) => {
  const bound = boundMetadata({ title: 'T', og: manyTags(50, 'x'.repeat(900)), twitter: manyTags(50, 'y'.repeat(900)) })
  t.equal(bound.title, 'T')
  t.ok(charactersOf(bound) <= 16_384 + 'ogtwitter'.length, `${charactersOf(bound)}`)
  t.ok(charactersOf(bound) > 15_000, 'the bound is used up')
  t.ok(isReported(bound))
})

t.test('page metadata: drops addresses that are not absolute http or https', async (t) => {
  for (const bad of ['javascript:alert(1)', 'data:,x', '/relative', 'ftp://a.com/', 'https:a', ' https://a.com/']) {
    t.strictSame(boundMetadata({ canonical: bad, favicon: bad, og: { image: bad, 'video:url': bad } }), {}, bad)
  }
})

t.test('page metadata: rejects a result message that exceeds a bound', async (t) => {
  const bad: unknown[] = [
    { title: '' },
    { title: 'x'.repeat(501) },
    { favicon: 'javascript:alert(1)' },
    { canonical: `https://a.com/${'x'.repeat(2048)}` },
    { og: manyTags(51, 'v') },
    { og: { 'a b': 'v' } },
    { og: { title: null } },
    { other: 'x' },
  ]
  for (const metadata of bad) {
    t.ok(findProblem({ metadata }), JSON.stringify(metadata).slice(0, 60))
  }
})

t.test('page metadata: recognises tags with addresses by their names', async (t) => {
  const names = ['image', 'image0', 'image:url', 'image:secure_url', 'image:src', 'image0:src', 'url', 'video', 'audio']
  for (const name of [...names, 'player', 'player:stream', 'app:url:iphone', 'logo']) t.ok(isAddressTag(name), name)
  const texts = ['title', 'image:width', 'image:alt', 'player:width', 'video:tag', 'site', 'card', '']
  for (const name of texts) t.notOk(isAddressTag(name), name)
})
