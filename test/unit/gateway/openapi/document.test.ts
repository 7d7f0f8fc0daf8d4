import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Validator } from '@seriousme/openapi-schema-validator'
import { captureParameters } from '#shared/capture/options.ts'
import { fromQuery } from '#shared/capture/from-query.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { webhookEvents } from '#gateway/records/webhook.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/routes.ts'
import { createContract, documentedPairs } from '#test/helpers/contract.ts'
import { promisesOf } from '#test/helpers/interface-promises.ts'

type Examples = { readonly example?: unknown; readonly examples?: { readonly default?: { readonly value: unknown } } }
type Media = Examples & { schema: object }
type Parameter = Examples & {
  name: string
  in: string
  style?: string
  explode?: boolean
  schema?: object
  content?: Record<string, Media>
}
type Operation = {
  operationId: string
  parameters?: (Parameter & { description: string; required?: boolean })[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { $ref?: string; content?: Record<string, Media> }>
}

/** The value as clients receive it. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const document = openapiDocument(routes, 'https://shots.example')
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation: asJson(operation) as Operation,
  })),
)
const schemas = document.components.schemas as Record<string, Record<string, unknown>>
t.test('document: is valid OpenAPI 3.1', async (t) => {
  const verdict = await new Validator().validate(asJson(document) as Record<string, unknown>)
  t.same([verdict.valid, verdict.errors], [true, undefined])
  const broken = await new Validator().validate({ ...(asJson(document) as object), info: {} })
  t.equal(broken.valid, false, 'the validator detects a fault')
})

t.test('document: every reference resolves to a component', (t) => {
  const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)
  const components = document.components as Record<string, Record<string, unknown>>
  for (const [ref, kind = '', name = ''] of refs) t.ok(components[kind]?.[name], ref)
  t.end()
})

t.test('document: lists the same operations as the routes', (t) => {
  const named = operations.map(({ method, path, operation }) => `${operation.operationId} ${method} ${path}`)
  const served = routes.map(({ name, method, path }) => `${name} ${method} /v1${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  t.same(named.toSorted(), served.toSorted())
  t.end()
})

const exampleIn = ({ example, examples }: Examples = {}): unknown => examples?.default?.value ?? example

/** A parameter in a query, encoded as the document says. */
const encode = ({ name, style, content, ...parameter }: Parameter): string => {
  const value = exampleIn(content ? content['application/json'] : parameter)
  const pair = (key: string, each: unknown) => `${encodeURIComponent(key)}=${encodeURIComponent(String(each))}`
  if (content) return pair(name, JSON.stringify(value))
  if (Array.isArray(value)) return value.map((each) => pair(name, each)).join('&')
  if (typeof value !== 'object' || value === null) return pair(name, value)
  const entries = Object.entries(value).map(([key, each]) =>
    pair(style === 'deepObject' ? `${name}[${key}]` : key, each),
  )
  return entries.join('&')
}

t.test('document: the example of each parameter is read from a query in its documented encoding', (t) => {
  const query = operations.find(({ operation }) => operation.operationId === 'capture_get')?.operation.parameters ?? []
  for (const parameter of query) {
    const sent = exampleIn(parameter.content ? parameter.content['application/json'] : parameter)
    const read = fromQuery(encode(parameter))
    t.strictSame(read.ok && read.input, { [parameter.name]: sent }, parameter.name)
  }
  const clip = query.find(({ name }) => name === 'clip') as Parameter
  const read = fromQuery(encode({ ...clip, style: 'form' }))
  t.notOk(read.ok && 'clip' in (read.input as object), 'another encoding is another parameter')
  t.end()
})

t.test('document: has every capture parameter in query and body, with the bounds of the validation', (t) => {
  const inBody = schemas['CaptureParameters']?.['properties'] as Record<string, Record<string, unknown>>
  const query = operations.find(({ operation }) => operation.operationId === 'capture_get')?.operation.parameters ?? []
  const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'maxProperties', 'enum', 'default']
  t.same(query.map(({ name }) => name).toSorted(), Object.keys(captureParameters.properties).toSorted())
  type Schemas = Record<string, Record<string, unknown>>
  for (const [name, schema] of Object.entries(asJson(captureParameters.properties) as Schemas)) {
    const parameter = query.find((each) => each.name === name)
    const inQuery = (parameter?.schema ?? parameter?.content?.['application/json']?.schema) as Record<string, unknown>
    for (const bound of bounds) {
      const validates = schema[bound]
      t.same([inBody[name]?.[bound], inQuery[bound]], [validates, validates], `${name} ${bound}`)
    }
  }
  t.end()
})

t.test('document: every event has an example and its signature; only events of a request may be unsigned', (t) => {
  const contract = createContract()
  const webhooks = document.webhooks as Record<string, { post: Required<Operation> }>
  t.same(Object.keys(webhooks), webhookEvents)
  const names = ['X-Webhook-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
  for (const [event, { post }] of Object.entries(webhooks)) {
    const { schema, example } = post.requestBody.content['application/json'] as Media
    t.same(contract.violations(schema, example), [], event)
    t.match(example, { event })
    t.same(
      post.parameters.map((header) => [header.name, header.in, header.required]),
      names.map((name) => [name, 'header', !event.startsWith('screenshot.')]),
    )
  }
  t.end()
})

t.test('document: the contract checks what is sent to webhooks, signature included', (t) => {
  const { checkEvent } = createContract()
  const { example } = (document.webhooks as Record<string, { post: Required<Operation> }>)['webhook.test']!.post
    .requestBody.content['application/json'] as { example: { data: object } }
  const headers = {
    'x-webhook-signature': 'ab'.repeat(32),
    'webhook-id': 'id',
    'webhook-timestamp': '1772361000',
    'webhook-signature': `v1,${'A'.repeat(43)}=`,
  }
  const check = (more: object, changed: object = {}) =>
    checkEvent({ headers: { ...headers, ...changed }, body: JSON.stringify({ ...example, ...more }) })
  t.same(check({}), [])
  t.match(check({ more: 1 }), [/additional/])
  t.match(check({ data: { ...example.data, more: 1 } }), [/additional/])
  t.match(check({ event: 'page.seen' }), [/not documented/])
  t.match(check({}, { 'webhook-id': undefined }), [/webhook-id is missing/])
  t.match(check({}, { 'x-webhook-signature': 'AB' }), [/pattern/])
  t.end()
})

t.test('document: every object of a response disallows additional properties', (t) => {
  const open: string[] = []
  const look = (schema: unknown, path: string) => {
    if (typeof schema !== 'object' || schema === null) return
    if ('properties' in schema && !('additionalProperties' in schema)) open.push(path)
    // Conditions restrict the schema that they are part of.
    const parts = Object.entries(schema).filter(([name]) => !['if', 'then', 'else'].includes(name))
    for (const [name, part] of parts) look(part, `${path}/${name}`)
  }
  look(schemas, '')
  t.same(open, [])
  t.end()
})

t.test('document: every example matches its schema', (t) => {
  const contract = createContract()
  const look = (media: Record<string, Media> | undefined, what: string) => {
    for (const { schema, ...examples } of Object.values(media ?? {})) {
      const example = exampleIn(examples)
      if (example !== undefined && !what.includes('events')) t.same(contract.violations(schema, example), [], what)
    }
  }
  for (const { operation } of operations) {
    look(operation.requestBody?.content, `${operation.operationId} request`)
    for (const parameter of operation.parameters ?? [])
      look({ json: asJson(parameter) as Media }, `${operation.operationId} ${parameter.name}`)
    for (const [status, answer] of Object.entries(operation.responses))
      look(answer.content, `${operation.operationId} ${status}`)
  }
  for (const [name, response] of Object.entries(document.components.responses))
    look((response as { content: Record<string, Media> }).content, name)
  t.end()
})

type ErrorFields = { code: { enum: (keyof typeof catalog)[] }; status: { const: number } }

t.test('document: errors have the status of the catalogue, and every public code is listed', (t) => {
  const named = Object.keys(document.components.responses).flatMap((name) => {
    const schema = asJson(schemas[name]) as { properties: { error: { properties: ErrorFields } } }
    const { code, status } = schema.properties.error.properties
    return code.enum.map((each) => ({ code: each, status: status.const }))
  })
  for (const { code, status } of named) t.equal(status, catalog[code].status, code)
  const answered = Object.keys(catalog).filter((code) => !['METHOD_NOT_ALLOWED', 'CONFIGURATION'].includes(code))
  t.same([...new Set(named.map(({ code }) => code as string))].toSorted(), answered.toSorted())
  t.end()
})

// Contract: Success statuses
t.test('document: success is 200, 202 or 204; images also have the statuses of ranges and conditions', (t) => {
  const otherPairs = documentedPairs.filter(
    (pair) => !/ (?:200|202|204|4\d\d|5\d\d)$/.test(pair) || pair.endsWith(' 416'),
  )
  const images = ['file 304', 'image 206', 'image 304', 'image 416', 'image_head 304', 'render 304', 'render_head 304']
  t.same(otherPairs.toSorted(), [...images, 'docs 304', 'openapi 304'].toSorted(), 'the description can be cached too')
  t.end()
})

// Contract: Versioning
t.test('document: keeps all promises of v1, and requires no more', (t) => {
  const recorded = readFileSync(join(import.meta.dirname, '../../../fixtures/v1-promises.txt'), 'utf8')
    .trim()
    .split('\n')
  const now = promisesOf(document)
  const isRequirement = (line: string) => line.startsWith('needs ')
  t.same(
    recorded.filter((line) => !isRequirement(line) && !now.includes(line)),
    [],
    'nothing is lost: these lines may never go',
  )
  t.same(
    now.filter((line) => !recorded.includes(line)),
    [],
    'new promises are added to the recorded lines unless an existing request would need them',
  )
  t.ok(now.length > 500)
  t.end()
})

type Changeable = { required: string[]; properties: object }

t.test('document: a broken promise is detected', (t) => {
  const broken = asJson(document) as typeof document & { components: { schemas: Record<string, Changeable> } }
  const { WebhookParameters: asked, UsageAnswer: answered } = broken.components.schemas
  asked?.required.push('description')
  Object.assign(answered?.properties ?? {}, { data: {} })
  const [before, after] = [promisesOf(document), promisesOf(broken)]
  t.same(
    after.filter((line) => !before.includes(line)),
    ['UsageAnswer.data: any', 'needs WebhookParameters.description'],
  )
  t.ok(before.includes('UsageAnswer.data.period_end: string') && !after.includes('UsageAnswer.data.period_end: string'))
  t.end()
})
