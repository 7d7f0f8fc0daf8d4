import { type Fields, type JsonSchema, keywordsOf, type Schema } from '#shared/schema/fields.ts'
import { type HeaderName, headersOf } from './answer-headers.ts'
import type { AnswerDoc, Contract } from './contract.ts'
import { documented, nestedSchema, schemaRef } from './document-schema.ts'
import { errorDescription, errorExample, errorSchema, type ErrorSet, errorSetsOf, type ErrorWords } from './errors.ts'

/** An operation as documents describe it, whoever may request it. */
export type DescribedOperation = Omit<Contract, 'tag' | 'access' | 'scopes'> & {
  readonly tag: string
}

/** What differs between the documents of two interfaces. */
export type Interface<Operation> = {
  /** Path prefix of the operations. */
  readonly prefix: string
  /** Headers of every response. */
  readonly commonHeaders: readonly HeaderName[]
  /** More headers of the errors of a status. */
  readonly errorHeaders: (status: number) => readonly HeaderName[]
  readonly errorWords: ErrorWords
  /** The fields `description` and `security` of an operation, and extensions about access. */
  readonly describeAccess: (operation: Operation) => JsonSchema
}

type Look = Omit<Interface<unknown>, 'describeAccess'>

const answer = ({ commonHeaders }: Look, { description, headers, content }: AnswerDoc): JsonSchema => ({
  description,
  headers: headersOf([...commonHeaders, ...headers]),
  ...(content && {
    content: Object.fromEntries(
      Object.entries(content).map(([type, media]) => [type, { ...media, schema: nestedSchema(media.schema) }]),
    ),
  }),
})

const errorResponse = ({ commonHeaders, errorHeaders, errorWords }: Look, set: ErrorSet): JsonSchema => ({
  description: errorDescription(set, errorWords),
  headers: headersOf([...commonHeaders, ...errorHeaders(set.status)]),
  content: { 'application/json': { schema: schemaRef(set.name), example: errorExample(set, errorWords) } },
})

const errorOf = (look: Look, set: ErrorSet, method: string): JsonSchema =>
  // The response to a HEAD has no body.
  method === 'HEAD'
    ? answer(look, { description: errorDescription(set, look.errorWords), headers: look.errorHeaders(set.status) })
    : { $ref: `#/components/responses/${set.name}` }

const describe = <Operation extends DescribedOperation>(
  operation: Operation,
  { describeAccess, ...look }: Interface<Operation>,
): JsonSchema => {
  const { name, method, body } = operation
  return {
    operationId: name,
    tags: [operation.tag],
    summary: operation.summary,
    ...describeAccess(operation),
    ...(operation.parameters.length > 0 && { parameters: operation.parameters }),
    ...(body && {
      requestBody: {
        required: body.isOptional !== true,
        content: { 'application/json': { schema: schemaRef(body.name), example: body.example } },
      },
    }),
    responses: Object.fromEntries([
      ...Object.entries(operation.answers).map(([status, each]) => [status, answer(look, each)]),
      ...errorSetsOf(operation.errors).map((set) => [String(set.status), errorOf(look, set, method)]),
    ]),
  }
}

const pathsOf = <Operation extends DescribedOperation>(
  operations: readonly Operation[],
  described: Interface<Operation>,
): Record<string, Record<string, JsonSchema>> => {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    const path = described.prefix + operation.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, described) }
  }
  return paths
}

/** The error sets of all operations without duplicates, by status and size. */
const allErrors = (operations: readonly DescribedOperation[]): readonly ErrorSet[] => {
  const sets = operations.flatMap(({ errors }) => errorSetsOf(errors)).map((set) => [set.name, set] as const)
  return [...new Map(sets).values()].toSorted((a, b) => a.status - b.status || a.codes.length - b.codes.length)
}

/** The components that the responses of operations refer to. */
export const answerComponents = (operations: readonly DescribedOperation[]): readonly Schema[] =>
  operations.flatMap(({ answers }) => Object.values(answers).flatMap(({ component }) => component ?? []))

/** These schemas and all inside of them. */
const schemasIn = (schema: Schema): readonly Schema[] => {
  const { items, properties = {} } = schema as { readonly items?: Schema; readonly properties?: Fields }
  const inner = [...Object.values(properties), ...(items ? [items] : [])]
  return [...inner.flatMap(schemasIn), schema]
}

/** The components among these schemas and the fields and items inside of them, each once. */
export const componentsIn = (schemas: readonly Schema[]): readonly Schema[] => {
  const found = schemas.flatMap(schemasIn).map((schema) => [keywordsOf(schema)['component'], schema] as const)
  return [...new Map(found.filter(([name]) => name !== undefined)).values()]
}

/** Named schemas for `components` of a document. */
export const schemasByName = (components: readonly Schema[]): JsonSchema =>
  Object.fromEntries(components.map((schema) => [keywordsOf(schema)['component'], documented(schema)]))

/**
 * Describes the operations of an interface: the paths of a document, and of its components the schemas of requests and errors, and
 * the responses with an error.
 */
export const describeOperations = <Operation extends DescribedOperation>(
  operations: readonly Operation[],
  described: Interface<Operation>,
) => {
  const errors = allErrors(operations)
  const bodies = operations.flatMap(({ body }) => (body ? [[body.name, documented(body.schema)] as const] : []))
  const errorSchemas = errors.map((set) => [set.name, documented(errorSchema(set, described.errorWords))] as const)
  return {
    paths: pathsOf(operations, described),
    schemas: Object.fromEntries([...bodies, ...errorSchemas]) as JsonSchema,
    responses: Object.fromEntries(errors.map((set) => [set.name, errorResponse(described, set)])) as JsonSchema,
  }
}
