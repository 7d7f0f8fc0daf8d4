import t from 'tap'
import type { Admin } from '#gateway/admin/admin-route.ts'
import { adminRoutes } from '#gateway/admin/admin-routes.ts'
import { operatorOperations } from '#gateway/admin/operator-operations.ts'
import { bodyBound, bodyBytesMax, plainBodyBytes } from '#gateway/http/body-bound.ts'
import { sessionOperations } from '#gateway/operations/console/sessions.ts'
import { routes } from '#gateway/routes.ts'
import { list, object, text } from '#shared/schema/fields.ts'

t.test('body bound: captures and batches alone take up to 7 MiB', async (t) => {
  for (const { name, accepts = false, bodyBytesMax: bound = 0 } of routes)
    t.equal(bound === bodyBytesMax, accepts, `${name}: ${bound}`)
  const largest = Math.max(...adminRoutes.map(({ body }) => bodyBound(body?.schema)))
  t.ok(largest < bodyBytesMax / 2, `${largest} bytes for administrators`)
  for (const { name, bodyBytesMax: bound = plainBodyBytes } of operatorOperations({} as Admin))
    t.ok(bound <= largest, name)
})

t.test('body bound: what nobody has identified takes 4 KiB', async (t) => {
  const unidentified = sessionOperations.filter(({ method, access }) => method !== 'GET' && access === 'open')
  t.same(
    unidentified.map(({ name, bodyBytesMax: bound }) => [name, bound]),
    [
      ['console_sign_in_link', 4096],
      ['console_sign_in', 4096],
    ],
  )
})

t.test('body bound: the longest value of a schema fits, with each character escaped', async (t) => {
  const schema = object({ names: list(text('', { maxLength: 250 }), 100, '') })
  const longest = JSON.stringify({ names: Array.from({ length: 100 }, () => 'x'.repeat(250)) })
  const escaped = longest.replaceAll('x', String.raw`\ud83d\udca9`)
  t.ok(escaped.length > plainBodyBytes && escaped.length <= bodyBound(schema), `${escaped.length}`)
  t.equal(bodyBound(object({ name: text('', { maxLength: 10 }) })), plainBodyBytes)
  t.equal(bodyBound(object({ html: text('', { maxLength: 5_000_000 }) })), bodyBytesMax)
})
