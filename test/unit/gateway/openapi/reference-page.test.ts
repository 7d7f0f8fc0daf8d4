import t from 'tap'
import { openapiDocument } from '#gateway/openapi/openapi-document.ts'
import { referencePage } from '#gateway/openapi/reference-page.ts'
import { routes } from '#gateway/operations/routes.ts'

const document = openapiDocument(routes, 'https://shots.example')
const page = referencePage(document)

t.test('every operation, parameter, schema and header stands on the page', (t) => {
  for (const { name } of routes) t.match(page, `<section id="${name}"`)
  const { schemas } = document.components
  for (const name of Object.keys((schemas['CaptureParameters'] as { properties: object }).properties))
    t.match(page, `<code class="name">${name}</code>`)
  t.match(page, '320 to 3840')
  t.match(page, 'https://shots.example/v1')
  t.match(page, 'Not available in this version')
  t.end()
})

t.test('every link leads to a place on the page', (t) => {
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const links = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id)
  t.ok(links.length > 50)
  t.same(
    links.filter((id) => !ids.has(id)),
    [],
  )
  t.end()
})

t.test('the page runs nothing and loads nothing', (t) => {
  t.notMatch(page, /<script|<link|<img|<iframe|@import|url\(|javascript:| on\w+=/i)
  t.end()
})

t.test('what the document says is shown as text, whatever it is', (t) => {
  const info = { ...document.info, description: '<b onclick="x">&</b>' }
  const text = referencePage({ ...document, info })
  t.match(text, '&lt;b onclick=&quot;x&quot;&gt;&amp;&lt;/b&gt;')
  t.end()
})
