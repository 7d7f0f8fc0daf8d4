import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/routes.ts'

/** A response as a client receives it. `body` is undefined if it was not read. */
export type RecordedResponse = {
  readonly method: string
  /** With or without a query. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** A request to a webhook receiver. */
export type WebhookRequest = { readonly headers: Readonly<Record<string, unknown>>; readonly body: string }

type Header = { readonly required?: boolean; readonly schema: { readonly type?: string } }
type Response = {
  readonly headers: Record<string, { readonly $ref: string }>
  readonly content?: Record<string, { readonly schema: object }>
}

type Components = { readonly headers: Record<string, Header>; readonly responses: Record<string, Response> }

/** A document of operations under `paths`. */
export type Described = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
}

const publicDocument: Described = openapiDocument(routes, 'https://shots.example')

const operationsOf = ({ paths }: Described) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: operation['operationId'] as string,
      method: method.toUpperCase(),
      form: new RegExp(`^(?:/api)?${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      exact: !path.includes('{'),
      responses: operation['responses'] as Record<string, Response | { readonly $ref: string }>,
    })),
  )

/** The pairs of operation and status in a document, such as `status 200`; by default the public one. */
export const pairsOf = (document: Described): readonly string[] =>
  operationsOf(document).flatMap(({ name, responses }) => Object.keys(responses).map((status) => `${name} ${status}`))

/** Every operation with every status in the document, such as `status 200`. */
export const documentedPairs: readonly string[] = pairsOf(publicDocument)

type EventDoc = {
  readonly parameters: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[]
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } }
}
type Events = Readonly<Record<string, { readonly post: EventDoc }>>

const last = (ref: string) => ref.split('/').at(-1) ?? ''

const operationOf = (operations: ReturnType<typeof operationsOf>, { method, path }: RecordedResponse) => {
  const fitting = operations.filter((each) => each.form.test(path.split('?')[0] ?? ''))
  const exact = fitting.filter((each) => each.exact)
  return (exact.length > 0 ? exact : fitting).find((each) => each.method === method)
}

const headerFaults = (
  components: Components,
  { response, headers }: { readonly response: Response; readonly headers: RecordedResponse['headers'] },
  violations: (schema: object, value: unknown) => string[],
) =>
  Object.entries(response.headers).flatMap(([name, { $ref }]) => {
    const { required, schema } = components.headers[last($ref)] as Header
    const value = headers[name.toLowerCase()]
    if (value === undefined) return required ? [`${name} is missing`] : []
    return violations(schema, schema.type === 'integer' ? Number(value) : value).map((fault) => `${name}: ${fault}`)
  })

/** Creates a function that returns how a value violates a schema with references to the components. */
const createViolations = (components: Components) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ $id: 'contract', components })
  const compiled = new Map<string, ValidateFunction>()
  return (schema: object, value: unknown): string[] => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"contract#/components')
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object)
    compiled.set(text, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}

/**
 * Validates responses against the document: status, media type, headers, and JSON bodies. `check` returns the violations
 * of a response and records its pair of operation and status. Paths without an operation are ignored. `checkEvent` returns
 * the violations of a body sent to a receiver, and of its signature.
 */
export const createContract = (
  document: Described = publicDocument,
): {
  readonly check: (answer: RecordedResponse) => string[]
  readonly checkEvent: (event: WebhookRequest) => string[]
  readonly violations: (schema: object, value: unknown) => string[]
  readonly coveredResponses: ReadonlySet<string>
} => {
  const components = document['components'] as Components
  const events = (document['webhooks'] ?? {}) as Events
  const operations = operationsOf(document)
  const coveredResponses = new Set<string>()
  const violations = createViolations(components)

  const checkAgainst = (response: Response, { method, status, headers, body }: RecordedResponse): string[] => {
    const headerViolations = headerFaults(components, { response, headers }, violations)
    // These responses describe a body without containing it.
    if (method === 'HEAD' || status === 304) return headerViolations
    const type = headers['content-type']?.split(';')[0]
    if (!response.content) return type === undefined ? headerViolations : [...headerViolations, `has a body of ${type}`]
    const media = response.content[type ?? '']
    if (!media) return [...headerViolations, `has the undocumented content type ${type}`]
    return type === 'application/json' && body !== undefined
      ? [...headerViolations, ...violations(media.schema, body)]
      : headerViolations
  }

  const checkEvent = ({ headers, body }: WebhookRequest): string[] => {
    const sent = JSON.parse(body) as { event: string }
    const post = events[sent.event]?.post
    if (!post) return [`${sent.event} is not documented`]
    const presentHeaders = post.parameters.filter(({ name }) => headers[name.toLowerCase()] !== undefined)
    // The signature headers are all present or all absent.
    const missing = post.parameters.filter(
      (each) => !presentHeaders.includes(each) && (each.required || presentHeaders.length > 0),
    )
    return [
      ...missing.map(({ name }) => `${name} is missing`),
      ...presentHeaders.flatMap(({ name, schema }) => violations(schema, headers[name.toLowerCase()])),
      ...violations(post.requestBody.content['application/json'].schema, sent),
    ].map((fault) => `${sent.event}: ${fault}`)
  }

  return {
    coveredResponses,
    violations,
    checkEvent,
    check: (answer) => {
      const operation = operationOf(operations, answer)
      if (!operation) return []
      const { name, responses } = operation
      const named = responses[answer.status]
      if (!named) return [`${name} ${answer.status} is not documented`]
      coveredResponses.add(`${name} ${answer.status}`)
      const response = '$ref' in named ? (components.responses[last(named.$ref)] as Response) : named
      return checkAgainst(response, answer).map((fault) => `${name} ${answer.status}: ${fault}`)
    },
  }
}
