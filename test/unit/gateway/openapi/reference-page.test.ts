import t from 'tap'
import { webhookEvents } from '#gateway/db/webhooks.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { referencePage } from '#gateway/openapi/reference-page.ts'
import { routes } from '#gateway/operations/routes.ts'

const document = openapiDocument(routes, 'https://shots.example')
const page = referencePage(document)

t.test('every operation, parameter, schema and header stands on the page', (t) => {
  for (const { name } of routes) t.ok(page.includes(`<section id="${name}"`), name)
  const { schemas } = document.components
  for (const name of Object.keys((schemas['CaptureParameters'] as { properties: object }).properties))
    t.ok(page.includes(`<code class="name">${name}</code`), name)
  for (const event of webhookEvents) t.ok(page.includes(`<section id="event-${event}"`), event)
  for (const text of ['X-Webhook-Signature', 'screenshots_limit', '320 to 3840', 'https://shots.example/v1'])
    t.ok(page.includes(text), text)
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
  t.notOk(/<script|<link|<img|<iframe|@import|url\(|javascript:|<[^>]* on\w+=/i.exec(page)?.[0])
  t.end()
})

t.test('what the document says is shown as text, whatever it is', (t) => {
  const info = { ...document.info, description: '<b onclick="x">&</b>' }
  const text = referencePage({ ...document, info })
  t.ok(text.includes('&lt;b onclick=&quot;x&quot;&gt;&amp;&lt;/b&gt;'))
  t.end()
})
