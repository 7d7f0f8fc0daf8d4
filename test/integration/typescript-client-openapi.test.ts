import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { Shutterfleet } from '#client/shutterfleet.js'
import { type Admitted, declaredInterfaces } from '#test/helpers/declared-types.ts'

// Compares the client with the OpenAPI document: a method for each operation, a field for each property.

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const root = resolve(import.meta.dirname, '../..')
const document = JSON.parse(await readFile(`${root}/docs/openapi.json`, 'utf8')) as Document
const declarations = await Promise.all(
  ['capture-parameters', 'types'].map((name) => readFile(`${root}/clients/typescript/src/${name}.ts`, 'utf8')),
)
const interfaces = new Map(declarations.flatMap((text) => [...declaredInterfaces(text)]))
const schemaOf = (name: string): Schema => document.components.schemas[name] ?? {}
const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolved(schemaOf(schema.$ref.split('/').at(-1) ?? ''))
/** The schema of a response's `data`. */
const dataOf = (name: string): Schema => resolved(schemaOf(name).properties?.['data'] ?? {})

const quoted = (value: unknown) => JSON.stringify(value)

/** All types and literals that a schema admits, as in `Admitted`. */
const admits = (given: Schema): string[] => {
  const schema = resolved(given)
  const several = schema.oneOf ?? schema.anyOf
  if (several) return several.flatMap(admits)
  if (schema.const !== undefined) return [quoted(schema.const)]
  if (schema.enum) return schema.enum.map((value) => (value === null ? 'null' : quoted(value)))
  return [schema.type ?? []].flat().map((type) => (type === 'integer' ? 'number' : type))
}

/** Properties of a schema or of all its variants: optional if one of them does not require it. */
const propertiesOf = (given: Schema) => {
  const schema = resolved(given)
  const variants = schema.properties ? [schema] : (schema.oneOf ?? []).map(resolved)
  const names = new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)))
  return new Map(
    [...names].map((name) => [
      name,
      {
        optional: variants.some(({ required = [] }) => !required.includes(name)),
        admits: new Set(variants.flatMap(({ properties = {} }) => (properties[name] ? admits(properties[name]) : []))),
      },
    ]),
  )
}

/** Whether a field admits the same values as its property; `string` admits any text literal. */
const agrees = (field: Admitted, property: Admitted) => {
  const asText = (value: string) => (field.has('string') && value.startsWith('"') ? 'string' : value)
  const wanted = new Set([...property].map(asText))
  return wanted.size === field.size && [...wanted].every((value) => field.has(value))
}

const pairs: Readonly<Record<string, Schema>> = {
  CaptureParameters: schemaOf('CaptureParameters'),
  Screenshot: schemaOf('Screenshot'),
  CaptureFailure: schemaOf('CaptureError'),
  Warning: schemaOf('Warning'),
  PageMetadata: schemaOf('PageMetadata'),
  BatchMember: schemaOf('BatchMember'),
  Batch: schemaOf('Batch'),
  SignedUrl: dataOf('SignedUrlAnswer'),
  Plan: schemaOf('Plan'),
  Account: dataOf('AccountAnswer'),
  Usage: dataOf('UsageAnswer'),
  Webhook: schemaOf('Webhook'),
  WebhookWithSecret: dataOf('WebhookWithSecretAnswer'),
  WebhookFields: schemaOf('NewWebhook'),
  DeliveryAttempt: schemaOf('DeliveryAttempt'),
  Delivery: schemaOf('Delivery'),
}

for (const [name, schema] of Object.entries(pairs)) {
  t.test(`typescript client openapi: ${name} has the fields of its schema`, async (t) => {
    const fields = interfaces.get(name)
    const properties = propertiesOf(schema)
    t.not(properties.size, 0)
    t.strictSame([...(fields?.keys() ?? [])].toSorted(), [...properties.keys()].toSorted())
    for (const [property, { optional, admits: admitted }] of properties) {
      const field = fields?.get(property)
      t.equal(field?.optional, optional, `${property} may be absent: ${optional}`)
      t.ok(agrees(field?.admits ?? new Set(), admitted), `${property} admits ${[...admitted].join(' | ')}`)
    }
  })
}

t.test(
  'typescript client openapi: the parameters of a batch are those of a capture with `urls` instead of a source',
  async (t) => {
    const capture = Object.keys(schemaOf('CaptureParameters').properties ?? {})
    const own = capture.filter((name) => !['url', 'html', 'markdown'].includes(name))
    t.strictSame(Object.keys(schemaOf('BatchParameters').properties ?? {}).toSorted(), [...own, 'urls'].toSorted())
  },
)

/** One call of the client for each operation. */
const calls: Readonly<Record<string, (shots: Shutterfleet) => unknown>> = {
  capture_post: (shots) => shots.capture({ html: 'x' }),
  list: (shots) => shots.list().next(),
  create: (shots) => shots.create({ html: 'x' }),
  batch: (shots) => shots.batch({ urls: [] }),
  batch_status: (shots) => shots.batchStatus('1'),
  status: (shots) => shots.status('1'),
  delete: (shots) => shots.delete('1'),
  events: (shots) => shots.events('1').next(),
  batch_events: (shots) => shots.batchEvents('1').next(),
  image: (shots) => shots.image('1'),
  image_head: (shots) => shots.describeImage('1'),
  sign_url: (shots) => shots.signedUrl('1'),
  account: (shots) => shots.account(),
  usage: (shots) => shots.usage(),
  capture_deliveries: (shots) => shots.deliveries('1').next(),
  capture_redeliver: (shots) => shots.redeliver('1', '2'),
  webhook_list: (shots) => shots.webhooks.list(),
  webhook_create: (shots) => shots.webhooks.create({ url: 'https://x' }),
  webhook_show: (shots) => shots.webhooks.get('1'),
  webhook_change: (shots) => shots.webhooks.change('1', {}),
  webhook_delete: (shots) => shots.webhooks.delete('1'),
  webhook_test: (shots) => shots.webhooks.test('1'),
  webhook_rotate_secret: (shots) => shots.webhooks.rotateSecret('1'),
  webhook_deliveries: (shots) => shots.webhooks.deliveries('1').next(),
  webhook_redeliver: (shots) => shots.webhooks.redeliver('1', '2'),
}

/** Operations without a method: the GET variant of a POST, and the documentation. */
const without = ['capture_get', 'openapi', 'docs']

t.test('typescript client openapi: every operation has a method, which sends exactly that request', async (t) => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [{ operationId, request: `${method.toUpperCase()} ${path}` }],
    ),
  )
  const needed = operations.filter(({ operationId }) => !without.includes(operationId))
  t.strictSame(needed.map(({ operationId }) => operationId).toSorted(), Object.keys(calls).toSorted())
  for (const { operationId, request } of needed) {
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      asked.push(`${init?.method ?? 'GET'} ${new URL(url instanceof Request ? url.url : url).pathname}`)
      throw new Error('request recorded')
    }
    const shots = new Shutterfleet({ baseUrl: 'http://here', apiKey: 'sk_live_x', fetch })
    await t.rejects(Promise.resolve(calls[operationId]?.(shots)), /request recorded/)
    t.strictSame(asked, [request.replace('{id}', '1').replace('{delivery_id}', '2')])
  }
})
