import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { PageMetadata } from '#shared/capture/page-metadata.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

const page = (head: string, body = '<p>page'): string => `<!doctype html><html><head>${head}</head><body>${body}</body>`
const html =
  (text: string): Route =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(text)

const everything = `<!doctype html><html lang="de-CH"><head>
  <title>
    Über   uns </title>
  <meta name="Description" content="  Was wir\u0001
    tun  ">
  <meta name="description" content="second">
  <link rel="alternate canonical" href="https://example.com/about">
  <link rel="stylesheet" href="/style.css">
  <link rel="Shortcut ICON" href="https://cdn.example.com/i.ico">
  <meta property="og:title" content="OG">
  <meta property="og:image" content="https://example.com/1.png">
  <meta property="og:image:width" content="600">
  <meta property="og:image" content="https://example.com/2.png">
  <meta property="og:description twitter:description" content="both">
  <meta name="twitter:card" content="summary">
  <meta property="TWITTER:site" content="@example">
  <meta property="og:image:alt" name="twitter:image:alt" content="alt">
  <meta property="og:empty" content="  ">
  <meta property="article:author" content="nobody">
  </head><body>page`

/** Overrides everything that a page can override before it is read. */
const overridden = `<script>
  const forged = () => { throw new Error('forged') }
  for (const name of ['querySelectorAll', 'querySelector', 'getElementsByTagName', 'title', 'baseURI', 'documentElement']) {
    for (const holder of [document, Document.prototype, Node.prototype]) {
      try { Object.defineProperty(holder, name, { get: () => forged, configurable: true }) } catch {}
    }
  }
  Element.prototype.getAttribute = () => 'forged'
  Object.getOwnPropertyDescriptor = Array.prototype.map = Array.prototype.slice = String.prototype.slice = forged
  Object.prototype.toJSON = () => 'forged'
  for (const name of ['Document', 'Node', 'Object', 'Array', 'URL']) window[name] = forged
</script>`

const own = '<meta name="description" content="mine"><link rel="icon" href="/i.png">'
const named = [
  'querySelectorAll',
  'title',
  'baseURI',
  'documentElement',
  'URL',
  'location',
  'head',
  'Document',
  'Array',
]
  .map((name) => `<form name="${name}" id="${name}"><input name="getAttribute"></form><img name="${name}">`)
  .join('')

const routes: Record<string, Route> = {
  '/everything': html(everything),
  '/nothing': html('<!doctype html><p>nothing'),
  '/deep/relative': html(
    page(`<link rel="canonical" href="?q=1"><link rel="icon" href="i.png"><meta property="og:url" content="/og">
      <meta property="og:image" content="../i.png"><meta name="twitter:player" content="//cdn.example.com/p">`),
  ),
  '/based': html(page(`<base href="https://base.example/dir/"><link rel="icon" href="i.png">`)),
  '/schemes': html(
    page(`<link rel="icon" href="javascript:alert(1)"><link rel="canonical" href="data:text/html,x">
      <link rel="icon" href=""><link rel="icon" href="http://[bad"><meta property="og:image" content="data:,x">
      <meta property="og:audio" content="javascript:alert(1)"><meta property="og:audio" content="https://example.com/a">`),
  ),
  '/second-icon': html(page(`<link rel="icon" href="data:,"><link rel="icon" href="/i.svg">`)),
  '/overridden': html(page(`${overridden}<title>own</title>${own}`)),
  '/named': html(page(`<title>own</title>${own}`, named)),
  '/many': html(
    page(
      Array.from({ length: 10_000 }, (_, index) => {
        const property = index < 960 ? 'other' : `og:t${index}`
        return `<meta property="${property}" content="${index}">`
      }).join(''),
    ),
  ),
  '/large': html(
    page(`<title>${'t'.repeat(2 ** 20)}</title><meta name="description" content="${'d'.repeat(2 ** 20)}">
      <link rel="icon" href="/${'i'.repeat(2 ** 20)}"><meta property="og:image" content="/${'i'.repeat(2 ** 20)}">`),
  ),
  '/large-base': html(
    page(`<base href="http://example.com/${'b'.repeat(2 ** 20)}/"><link rel="icon" href="/short">
      <link rel="canonical" href="https://example.com/whole">`),
  ),
  '/rootless': html(page(own, '<script>onload = () => document.documentElement.remove()</script>')),
  '/empty-404': (_request, response) => void response.writeHead(404).end(),
}

const captures = await startCaptureEnvironment(t, routes)
const { pages } = captures
const shoot = (parameters: CaptureParameters) => captures.shoot({ timeout: 10, extract_metadata: true, ...parameters })
const captureMetadata = async (path: string, more: CaptureParameters = {}): Promise<PageMetadata> => {
  const { metadata, warnings } = await shoot({ url: pages.url + path, ...more })
  t.notOk(
    warnings.some(({ code }) => code === 'metadata_unread'),
    `${path} is read`,
  )
  if (!metadata) throw new Error(`${path} has no metadata`)
  return metadata
}

// Contract: Metadata
t.test('worker metadata: all fields of a page are read; of repeated ones the first counts', async (t) => {
  t.strictSame(await captureMetadata('/everything'), {
    title: 'Über uns',
    description: 'Was wir tun',
    canonical: 'https://example.com/about',
    language: 'de-CH',
    favicon: 'https://cdn.example.com/i.ico',
    og: {
      title: 'OG',
      image: 'https://example.com/1.png',
      'image:width': '600',
      description: 'both',
      'image:alt': 'alt',
    },
    twitter: { description: 'both', card: 'summary', site: '@example', 'image:alt': 'alt' },
  })
})

// Contract: Metadata
t.test('worker metadata: missing fields are absent, and neither guessed nor fetched', async (t) => {
  t.strictSame(await captureMetadata('/nothing'), {})
  t.strictSame(await captureMetadata('/rootless'), {})
  t.strictSame(await captureMetadata('/empty-404'), {})
  t.notOk(pages.hits.includes('/favicon.ico'))
})

t.test('worker metadata: a capture without extract_metadata has no metadata', async (t) => {
  t.equal((await shoot({ url: `${pages.url}/everything`, extract_metadata: false })).metadata, undefined)
})

// Contract: Metadata
t.test('worker metadata: URLs are resolved against the base of the document', async (t) => {
  t.strictSame(await captureMetadata('/deep/relative'), {
    canonical: `${pages.url}/deep/relative?q=1`,
    favicon: `${pages.url}/deep/i.png`,
    og: { url: `${pages.url}/og`, image: `${pages.url}/i.png` },
    twitter: { player: 'http://cdn.example.com/p' },
  })
  t.strictSame(await captureMetadata('/based'), { favicon: 'https://base.example/dir/i.png' })
})

t.test('worker metadata: URLs other than http and https are skipped, and the next valid one counts', async (t) => {
  t.strictSame(await captureMetadata('/schemes'), { og: { audio: 'https://example.com/a' } })
  t.strictSame(await captureMetadata('/second-icon'), { favicon: `${pages.url}/i.svg` })
})

t.test('worker metadata: passwords in URLs are masked, also that of the target', async (t) => {
  const withPassword = page(
    '<link rel="canonical" href="https://user:s3cr3t@example.com/"><meta property="og:url" content="https://u:s3cr3t@a.com">',
  )
  const { metadata } = await shoot({ html: withPassword })
  t.strictSame(metadata, { canonical: 'https://user:***@example.com/', og: { url: 'https://u:***@a.com/' } })
  const url = `http://user:s3cr3t@${pages.host}/deep/relative`
  t.notMatch(JSON.stringify((await shoot({ url })).metadata), /s3cr3t/)
})

t.test(
  'worker metadata: an html or markdown source has its own fields, and URLs only if they are absolute',
  async (t) => {
    const head = '<title>T</title><link rel="icon" href="/i.png"><link rel="canonical" href="https://example.com/">'
    t.strictSame((await shoot({ html: page(head) })).metadata, { title: 'T', canonical: 'https://example.com/' })
    const based = `<base href="https://example.com/a/">${head}`
    t.match((await shoot({ html: page(based) })).metadata, { favicon: 'https://example.com/i.png' })
    t.strictSame((await shoot({ markdown: '# Title' })).metadata, { title: 'Title', language: 'en' })
  },
)

t.test(
  'worker metadata: a page cannot forge or break its fields by overridden globals or by named elements',
  async (t) => {
    const want = { title: 'own', description: 'mine', favicon: `${pages.url}/i.png` }
    t.strictSame(await captureMetadata('/overridden'), want)
    t.strictSame(await captureMetadata('/named'), want)
  },
)

t.test('worker metadata: the number and length of fields are bounded', async (t) => {
  const many = await captureMetadata('/many')
  t.same([many.og?.['t960'], many.og?.['t999'], Object.keys(many.og ?? {}).length], ['960', '999', 40])
  const large = await captureMetadata('/large')
  t.same([large.title?.length, large.description?.length], [500, 1000])
  t.strictSame(Object.keys(large), ['title', 'description'], 'a truncated URL is omitted')
  t.strictSame(await captureMetadata('/large-base'), { canonical: 'https://example.com/whole' })
})

t.test('worker metadata: fields are read when the picture is taken, for every kind of picture', async (t) => {
  const js =
    "document.title = 'changed'; document.head.insertAdjacentHTML('beforeend', '<meta property=og:type content=x>')"
  const want = { title: 'changed', og: { type: 'x' } }
  for (const more of [{}, { full_page: true }, { selector: 'p' }, { format: 'pdf', selector: 'p' }] as const) {
    t.strictSame(await captureMetadata('/nothing', { js, ...more }), want, JSON.stringify(more))
  }
})
