import t from 'tap'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { openResponses } from '#gateway/openapi/schema/open-responses.ts'
import { routes } from '#gateway/routes.ts'
import { createContract } from '#test/helpers/contract.ts'
import { ofTomorrow } from '#test/helpers/tomorrow.ts'

type Json = { readonly [name: string]: unknown }
type Media = {
  readonly schema: Json
  readonly example?: unknown
  readonly examples?: { readonly default?: { value: unknown } }
}

const exact = openapiDocument(routes, 'https://shots.example')
const open = openResponses(exact)

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const operationsIn = ({ paths }: typeof open) => Object.values(paths).flatMap((methods) => Object.values(methods))

/** What breaks a client of today as soon as a response gets what the interface may add. */
const closedParts = (value: unknown, path = ''): string[] => {
  if (!isObject(value)) return []
  const found = [
    ...(isObject(value['properties']) && value['additionalProperties'] !== true ? ['additionalProperties'] : []),
    ...(Array.isArray(value['enum']) ? ['enum'] : []),
    ...(value['format'] === 'date-time' && 'pattern' in value ? ['pattern'] : []),
    ...('oneOf' in value ? ['oneOf'] : []),
  ].map((keyword) => `${path} ${keyword}`)
  const parts = Object.entries(value).filter(([name]) => !['example', 'examples'].includes(name))
  return [...found, ...parts.flatMap(([name, part]) => closedParts(part, `${path}/${name}`))]
}

const requestNames = (document: typeof open) =>
  new Set(
    JSON.stringify(operationsIn(document).map(({ requestBody, parameters }) => [requestBody, parameters])).match(
      /(?<=schemas\/)[\w-]+/g,
    ),
  )

const responsesOf = (document: typeof open) => {
  const requests = requestNames(document)
  const schemas = Object.entries(document.components['schemas'] as Json).filter(([name]) => !requests.has(name))
  return [operationsIn(document).map(({ responses }) => responses), document.components['responses'], schemas]
}

t.test('open responses: nothing that a client reads is closed to additions', (t) => {
  t.same(closedParts(responsesOf(open)), [])
  for (const keyword of ['additionalProperties', 'enum', 'pattern', 'oneOf'])
    t.ok(
      closedParts(responsesOf(exact)).some((part) => part.endsWith(` ${keyword}`)),
      `${keyword} is detected`,
    )
  t.end()
})

t.test('open responses: requests are described as they are', (t) => {
  const [before, after] = [exact, open].map((document) => {
    const schemas = document.components['schemas'] as Json
    return [...requestNames(document)].map((name) => [name, schemas[name]])
  })
  t.same(after, before)
  t.ok(JSON.stringify(after).includes('"additionalProperties":false'))
  t.end()
})

t.test('open responses: every reference resolves, and every component is used', (t) => {
  const names = new Set(JSON.stringify(open).match(/(?<=#\/components\/schemas\/)[\w-]+/g))
  t.same([...names].toSorted(), Object.keys(open.components['schemas'] as Json).toSorted())
  t.end()
})

t.test('open responses: a record in any state is one object, which requires what all states have', (t) => {
  const { Screenshot: screenshot } = open.components['schemas'] as { Screenshot: Json & { properties: Json } }
  t.same(screenshot['required'], ['id', 'url', 'options', 'created_at', 'status'])
  t.match(screenshot.properties, {
    status: { type: 'string', 'x-extensible-enum': ['pending', 'processing', 'completed', 'failed'] },
    options: { $ref: '#/components/schemas/ScreenshotOptions' },
    image_url: { type: 'string' },
    error: { $ref: '#/components/schemas/CaptureError' },
  })
  t.end()
})

t.test('open responses: a response of tomorrow fits the document of today', (t) => {
  const [today, strict] = [createContract(open), createContract(exact)]
  const refused = operationsIn(open).flatMap(({ operationId, responses }) =>
    Object.entries(responses as Json).flatMap(([status, response]) => {
      const { schema, example, examples } =
        ((response as Json)['content'] as Record<string, Media> | undefined)?.['application/json'] ?? {}
      const value = ofTomorrow(examples?.default?.value ?? example)
      if (!schema || !isObject(value)) return []
      t.same(today.violations(schema, value), [], `${String(operationId)} ${status}`)
      return strict.violations(schema, value)
    }),
  )
  t.ok(refused.length > 100, 'which the exact document refuses')
  t.end()
})
