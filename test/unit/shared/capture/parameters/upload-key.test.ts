import t from 'tap'
import {
  defaultKeyTemplate,
  keyTemplateMax,
  keyTemplateProblem,
  renderCaptureKey,
} from '#shared/capture/parameters/upload-key.ts'

const capture = {
  id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  createdAt: '2026-03-01T09:30:00.123456Z',
  url: 'https://User:pw@Example.COM:8443/a?b' as string | null,
  options: { format: 'webp' } as Readonly<Record<string, unknown>>,
}
const keyOf = (template: string | undefined, more: Partial<typeof capture> = {}, prefix = '') => {
  const options = { ...capture.options, ...(template !== undefined && { upload_key: template }) }
  return renderCaptureKey(prefix, { ...capture, options, ...more })
}

t.test('upload key: replaces each placeholder by a fact of the capture', async (t) => {
  t.equal(keyOf('{host}/{date}/{id}.{format}'), `example.com/2026-03-01/${capture.id}.webp`)
  t.equal(keyOf(undefined), `${capture.id}.webp`)
  t.equal(keyOf('{id}{id}'), capture.id + capture.id)
  t.equal(keyOf('latest.{format}', {}, 'shots/{date}/'), 'shots/2026-03-01/latest.webp')
})

t.test('upload key: a source without a host, or with an IPv6 address, has a part of plain characters', async (t) => {
  t.equal(keyOf('{host}', { url: null }), 'inline')
  t.equal(keyOf('{host}', { url: 'https://[2606:4700::1111]/' }), '_2606_4700__1111_')
})

t.test('upload key: accepts templates of safe characters and known placeholders', async (t) => {
  const valid = [
    '',
    'a',
    'a/b/',
    'date={date}/h={host}/',
    '..a/b..',
    "A0!_.=+@,()'-",
    '{id}.{format}',
    defaultKeyTemplate,
  ]
  for (const template of valid) t.equal(keyTemplateProblem(template), undefined, template)
})

t.test('upload key: rejects templates that could leave the prefix or need escaping', async (t) => {
  const traversing = ['..', '.', 'a/../b', './a', 'a/..', 'a/.']
  for (const template of traversing) t.match(keyTemplateProblem(template), /must not contain \. or \.\./, template)
  for (const template of ['/a', 'a//b']) t.match(keyTemplateProblem(template), /must not begin with \//, template)
  const unsafe = [
    'a b',
    'a\n',
    'a\u0000',
    'ä',
    'a\\b',
    'a?b',
    'a#b',
    'a%2e',
    '{name}',
    '{id',
    '}',
    '{{id}}',
    'a*',
    'a&b',
  ]
  for (const template of unsafe) t.match(keyTemplateProblem(template), /letters, digits/, JSON.stringify(template))
})

t.test('upload key: rejects a template that may become longer than half a key', async (t) => {
  t.match(keyTemplateProblem('{host}{host}{host}'), /may become 759 bytes long, at most 512/)
  t.equal(keyTemplateProblem('{host}{host}abcdef'), undefined)
  t.match(keyTemplateProblem('{host}{host}abcdefg'), /513 bytes/)
  t.equal(keyTemplateProblem('a'.repeat(keyTemplateMax)), undefined)
})
