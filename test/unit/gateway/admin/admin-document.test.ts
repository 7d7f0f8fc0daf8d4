import t from 'tap'
import { Validator } from '@seriousme/openapi-schema-validator'
import { adminDocument } from '#gateway/admin/admin-document.ts'
import { adminRoutes } from '#gateway/admin/admin-routes.ts'
import { createContract } from '#test/helpers/contract.ts'

type Media = { readonly schema: object; readonly example: unknown }
type Operation = {
  readonly operationId: string
  readonly requestBody?: { readonly content: { readonly 'application/json': Media } }
  readonly responses: Readonly<Record<string, { readonly content?: { readonly 'application/json': Media } }>>
}

const text = JSON.stringify(adminDocument())
const document = JSON.parse(text) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

t.test('admin document: is valid OpenAPI 3.1, and every reference resolves', async (t) => {
  const verdict = await new Validator().validate(JSON.parse(text) as Record<string, unknown>)
  t.same([verdict.valid, verdict.errors], [true, undefined])
  const refs = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)]
  t.ok(refs.length > 100)
  for (const [ref, kind = '', name = ''] of refs) t.ok(document.components[kind]?.[name], ref)
})

t.test('admin document: lists the operations that are served', async (t) => {
  const served = adminRoutes.map(
    ({ name, method, path }) => `${name} ${method} /admin/v1${path.replaceAll(':id', '{id}')}`,
  )
  const documented = operations.map(({ path, method, operation }) => `${operation.operationId} ${method} ${path}`)
  t.same(documented.toSorted(), served.toSorted())
  t.equal(new Set(adminRoutes.map(({ name }) => name)).size, adminRoutes.length)
})

t.test('admin document: every example is as its schema says', async (t) => {
  const { violations } = createContract(adminDocument())
  for (const { operation } of operations) {
    const media = [operation.requestBody, ...Object.values(operation.responses)].map(
      (each) => each?.content?.['application/json'],
    )
    for (const each of media) if (each) t.same(violations(each.schema, each.example), [], operation.operationId)
  }
})

t.test('admin document: errors have the words of the administration, and name no screenshot', async (t) => {
  t.match(text, 'The token is missing or wrong.')
  t.notMatch(text, /The API key is missing|screenshot_id|Access-Control-Allow-Origin|RateLimit/)
})
