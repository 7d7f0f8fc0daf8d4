import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { type JsonSchema, keywordsOf, type Schema } from '#shared/schema/fields.ts'
import { accountAnswer, plan, targetLists, targetListsAnswer, usageAnswer, usageDay } from '#gateway/records/account.ts'
import { batch, batchAnswer, batchMember } from '#gateway/records/batch.ts'
import {
  acceptedScreenshot,
  acceptedScreenshotAnswer,
  endedScreenshotAnswer,
  flatScreenshot,
  recordSchemas,
  screenshotAnswer,
} from '#gateway/records/capture.ts'
import { screenshotPage } from '#gateway/records/capture-page.ts'
import { delivery, deliveryAttempt, deliveryPage, queuedDeliveryAnswer } from '#gateway/records/delivery.ts'
import { eventBodies } from '#gateway/records/event.ts'
import { activityEntry } from '#gateway/records/activity.ts'
import { apiKey, apiKeyList, apiKeyWithSecretAnswer } from '#gateway/records/key.ts'
import { memberAnswer, memberList, memberRecord, signInLinkAnswer } from '#gateway/records/member.ts'
import { uploadSchemas } from '#gateway/records/upload-destination.ts'
import { webhook, webhookAnswer, webhookList, webhookWithSecretAnswer } from '#gateway/records/webhook.ts'
import { eventDocs } from './events.ts'
import { headerComponents, type HeaderName, headersOf, limitHeaders } from './schema/answer-headers.ts'
import type { AnswerDoc, Contract } from './schema/contract.ts'
import { documented, nestedSchema, schemaRef } from './schema/document-schema.ts'
import { errorDescription, errorExample, errorSchema, type ErrorSet, errorSetsOf } from './schema/errors.ts'

const intro = `Captures web pages and HTML as images.

Every operation except the reference requires \`Authorization: Bearer <API key>\`. \`/api/v1\` is an alias of \`/v1\`. Results are
returned in \`data\`, errors in \`error\` with a machine-readable code. Every response has the header \`X-Request-Id\`, and every
response to an authenticated caller has the limits of the account. Times are ISO 8601 UTC with microseconds. Within v1,
fields, codes, parameters and operations are added but never removed: clients should ignore unknown ones.`

const tags = [
  { name: 'Screenshots', description: 'Capture pages, synchronously or in the background, and retrieve the results.' },
  { name: 'Batches', description: `Up to ${urlsMax} captures in one request.` },
  { name: 'Account', description: 'The account of the API key, its plan and its usage.' },
  { name: 'Keys', description: 'The API keys of the account.' },
  { name: 'Links', description: 'Links that capture on demand, for `<img>`, e-mail and Open Graph tags.' },
  { name: 'Members', description: 'The people who sign in to the console of the account.' },
  { name: 'Webhooks', description: 'Get notified of events, and inspect the deliveries.' },
  { name: 'Uploads', description: 'Upload images to buckets of the account.' },
  { name: 'Events', description: 'The requests that webhooks receive.' },
  { name: 'Reference', description: 'The OpenAPI document and the reference page.' },
]

const errorHeaders = (status: number): readonly HeaderName[] => {
  if (status === 400) return []
  if (status === 401) return ['WWW-Authenticate']
  return [...limitHeaders, 'Retry-After', 'X-Screenshot-Id']
}

const errorResponse = (set: ErrorSet): JsonSchema => ({
  description: errorDescription(set),
  headers: headersOf(errorHeaders(set.status)),
  content: { 'application/json': { schema: schemaRef(set.name), example: errorExample(set) } },
})

const answer = ({ description, headers, content }: AnswerDoc): JsonSchema => ({
  description,
  headers: headersOf(headers),
  ...(content && {
    content: Object.fromEntries(
      Object.entries(content).map(([type, media]) => [type, { ...media, schema: nestedSchema(media.schema) }]),
    ),
  }),
})

const errorOf = (set: ErrorSet, method: string): JsonSchema =>
  // The response to a HEAD has no body.
  method === 'HEAD'
    ? answer({ description: errorDescription(set), headers: errorHeaders(set.status) })
    : { $ref: `#/components/responses/${set.name}` }

/** The alternatives that authorize a request. */
const securities = {
  key: [{ apiKey: [] }],
  open: [],
  link: [{ apiKey: [] }, { signedLink: [] }],
  signature: [{ renderLink: [] }],
} as const

const scopesText = ({ scopes }: Contract): string =>
  scopes.length === 0 ? '' : ` Scope of the key: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`

const describe = (contract: Contract): JsonSchema => {
  const { name, method, body } = contract
  return {
    operationId: name,
    tags: [contract.tag],
    summary: contract.summary,
    description: contract.description + scopesText(contract),
    security: securities[contract.access],
    // Linters refuse the roles that version 3.1 allows in `security`.
    ...(contract.scopes.length > 0 && { 'x-scopes': contract.scopes }),
    ...(contract.parameters.length > 0 && { parameters: contract.parameters }),
    ...(body && {
      requestBody: {
        required: body.isOptional !== true,
        content: { 'application/json': { schema: schemaRef(body.name), example: body.example } },
      },
    }),
    responses: Object.fromEntries([
      ...Object.entries(contract.answers).map(([status, each]) => [status, answer(each)]),
      ...errorSetsOf(contract.errors).map((set) => [String(set.status), errorOf(set, method)]),
    ]),
  }
}

const pathsOf = (operations: readonly Contract[]): Record<string, Record<string, JsonSchema>> => {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    const path = `/v1${operation.path.replaceAll(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) }
  }
  return paths
}

/** Components in the order of the document; those of a single operation, and of requests, follow them. */
const shared: readonly Schema[] = [
  ...recordSchemas,
  screenshotAnswer,
  endedScreenshotAnswer,
  acceptedScreenshot,
  acceptedScreenshotAnswer,
  flatScreenshot,
  batchMember,
  batch,
  batchAnswer,
  screenshotPage,
  plan,
  accountAnswer,
  usageDay,
  usageAnswer,
  targetLists,
  targetListsAnswer,
  activityEntry,
  apiKey,
  apiKeyList,
  apiKeyWithSecretAnswer,
  memberRecord,
  memberList,
  memberAnswer,
  signInLinkAnswer,
  webhook,
  webhookAnswer,
  webhookList,
  webhookWithSecretAnswer,
  deliveryAttempt,
  delivery,
  deliveryPage,
  queuedDeliveryAnswer,
  ...uploadSchemas,
]

const answerComponents = (operations: readonly Contract[]): readonly Schema[] =>
  operations.flatMap(({ answers }) => Object.values(answers).flatMap(({ component }) => component ?? []))

/** The error sets of all operations without duplicates, by status and size. */
const allErrors = (operations: readonly Contract[]): readonly ErrorSet[] => {
  const sets = operations.flatMap(({ errors }) => errorSetsOf(errors)).map((set) => [set.name, set] as const)
  return [...new Map(sets).values()].toSorted((a, b) => a.status - b.status || a.codes.length - b.codes.length)
}

/** An OpenAPI 3.1 document of the HTTP interface. */
export type OpenapiDocument = JsonSchema & {
  readonly info: Readonly<Record<'title' | 'version' | 'summary' | 'description', string>> & JsonSchema
  readonly servers: readonly { readonly url: string }[]
  readonly tags: typeof tags
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  /** Webhook requests, by event. */
  readonly webhooks: JsonSchema
  readonly components: Readonly<Record<'schemas' | 'responses' | 'headers' | 'securitySchemes', JsonSchema>>
}

/** Describes the operations of a service that clients reach at `publicUrl`. */
export const openapiDocument = (operations: readonly Contract[], publicUrl: string): OpenapiDocument => {
  const errors = allErrors(operations)
  const components = [...shared, ...answerComponents(operations), ...eventBodies]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Shutterfleet',
      version: '1',
      summary: 'A self-hosted screenshot service.',
      description: intro,
      contact: { name: 'The operators of this installation', url: publicUrl },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags,
    paths: pathsOf(operations),
    webhooks: eventDocs(),
    components: {
      schemas: {
        ...Object.fromEntries(components.map((schema) => [keywordsOf(schema)['component'], documented(schema)])),
        ...Object.fromEntries(operations.flatMap(({ body }) => (body ? [[body.name, documented(body.schema)]] : []))),
        ...Object.fromEntries(errors.map((set) => [set.name, documented(errorSchema(set))])),
      },
      responses: Object.fromEntries(errors.map((set) => [set.name, errorResponse(set)])),
      headers: headerComponents(),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `sk_live_` followed by 40 letters and digits.',
        },
        signedLink: {
          type: 'apiKey',
          in: 'query',
          name: 'signature',
          description:
            'A signed link, created by the operation `sign_url`. It also contains `kid` and, unless it is permanent, `expires`.',
        },
        renderLink: {
          type: 'apiKey',
          in: 'query',
          name: 'signature',
          description:
            'Hex HMAC-SHA256 of the canonical query, keyed with the link secret of the key `key_id`: see docs/links.md.',
        },
      },
    },
  }
}
