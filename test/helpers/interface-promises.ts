import { catalog } from '#shared/errors/catalog.ts'

type Schema = { readonly [name: string]: unknown }
type Content = Readonly<Record<string, { readonly schema: Schema }>>
type Parameter = { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema?: Schema }
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly content?: Content }>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
  readonly components: { readonly schemas: object; readonly responses: object }
}

type Promises = { readonly guarantees: readonly string[]; readonly requirements: readonly string[] }

/** Headers of all responses; their own tests cover every operation. */
const everywhere = /^(X-RateLimit|X-Usage|X-Request-Id|Access-Control)/

const last = (ref: unknown) => String(ref).split('/').at(-1) ?? ''
const all = (value: unknown) => Object.entries((value ?? {}) as Record<string, Schema>)
const list = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [])

const typeOf = ({ $ref, type, enum: values, const: only }: Schema): string => {
  if ($ref !== undefined) return last($ref)
  const words = only === undefined ? values : [only]
  return list(words ?? [type ?? 'any'].flat())
    .map(String)
    .join('|')
}

/** One line for each enum value: values may be added, not removed. */
const choices = (path: string, { type, ...schema }: Schema): string[] =>
  list(schema['enum']).length > 0
    ? list(schema['enum']).map((value) => `${path} = ${String(value)}`)
    : [`${path}: ${typeOf({ type, ...schema })}`]

/** The fields of a schema, recursively down to named schemas. */
const fieldsOf = (path: string, schema: Schema): { path: string; schema: Schema; required: boolean }[] => [
  ...all(schema['properties']).flatMap(([name, each]) => [
    { path: `${path}.${name}`, schema: each, required: list(schema['required']).includes(name) },
    ...fieldsOf(`${path}.${name}`, each),
  ]),
  ...(schema['items'] ? fieldsOf(`${path}[]`, schema['items'] as Schema) : []),
  ...['oneOf', 'anyOf', 'allOf'].flatMap((each) =>
    list(schema[each]).flatMap((part) => fieldsOf(path, part as Schema)),
  ),
]

const requestNames = [
  'CaptureParameters',
  'BatchParameters',
  'SignedUrlParameters',
  'WebhookParameters',
  'WebhookChange',
]

const schemaPromises = (name: string, schema: Schema): Promises => {
  const fields = fieldsOf(name, schema)
  const required = fields.filter((field) => field.required).map(({ path }) => path)
  const isAsked = requestNames.includes(name)
  return {
    guarantees: [
      ...fields.flatMap((field) => choices(field.path, field.schema)),
      ...(isAsked ? [] : required.map((path) => `${path} is always there`)),
    ],
    requirements: isAsked ? required : [],
  }
}

const operationPromises = (operation: string, { parameters = [], requestBody, responses }: Operation): Promises => ({
  guarantees: [
    operation,
    ...parameters.map((each) => `${operation} takes ${each.in} ${each.name}`),
    ...all(requestBody?.content).map(([type, { schema }]) => `${operation} takes ${type} ${typeOf(schema as Schema)}`),
    ...Object.entries(responses)
      .filter(([status]) => Number(status) < 400)
      .flatMap(([status, { headers, content }]) => [
        `${operation} answers ${status}`,
        ...Object.keys(headers ?? {})
          .filter((name) => !everywhere.test(name))
          .map((name) => `${operation} ${status} has ${name}`),
        ...all(content).map(([type, { schema }]) => `${operation} ${status} is ${type} ${typeOf(schema as Schema)}`),
      ]),
  ],
  requirements: [
    ...parameters.filter(({ required }) => required).map((each) => `${operation} ${each.in} ${each.name}`),
    ...(requestBody?.required ? [`${operation} a body`] : []),
  ],
})

const shared = (document: Document): Promises[] => [
  ...all(document.components.schemas)
    .filter(([name]) => !Object.hasOwn(document.components.responses, name))
    .map(([name, schema]) => schemaPromises(name, schema)),
  { guarantees: Object.entries(catalog).map(([code, { status }]) => `${code} is ${status}`), requirements: [] },
]

/**
 * Reads an OpenAPI document as lines: guarantees to clients, and, prefixed with `needs`, required input. As
 * long as changes are compatible, no guarantee disappears, and existing operations get no new required input.
 */
export const promisesOf = (document: Document): string[] => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) =>
      operationPromises(`${method.toUpperCase()} ${path}`, each as Operation),
    ),
  )
  const lines = [...operations, ...shared(document)].flatMap(({ guarantees: gives, requirements: needs }) => [
    ...gives,
    ...needs.map((line) => `needs ${line}`),
  ])
  return [...new Set(lines)].toSorted()
}
