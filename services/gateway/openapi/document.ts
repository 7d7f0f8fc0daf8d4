import { readProductVersion } from '#shared/config/product-version.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import type { JsonSchema, Schema } from '#shared/schema/fields.ts'
import { accountAnswer, plan, targetLists, targetListsAnswer, usageAnswer, usageDay } from '#gateway/records/account.ts'
import { batch, batchAnswer, batchMember, batchPage, batchSummary } from '#gateway/records/batch.ts'
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
import { headerComponents, type HeaderName, limitHeaders } from './schema/answer-headers.ts'
import type { Contract } from './schema/contract.ts'
import { answerComponents, describeOperations, type Interface, schemasByName } from './schema/describe-operations.ts'

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

/** The alternatives that authorize a request. */
const securities = {
  key: [{ apiKey: [] }],
  open: [],
  link: [{ apiKey: [] }, { signedLink: [] }],
  signature: [{ renderLink: [] }],
} as const

const scopesText = ({ scopes }: Contract): string =>
  scopes.length === 0 ? '' : ` Scope of the key: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`

const publicInterface: Interface<Contract> = {
  prefix: '/v1',
  commonHeaders: ['X-Request-Id', 'Access-Control-Allow-Origin'],
  errorHeaders,
  errorWords: {
    messages: {},
    details: { width: ['must be a whole number from 320 to 3840'] },
    namesScreenshots: true,
  },
  describeAccess: (contract) => ({
    description: contract.description + scopesText(contract),
    security: securities[contract.access],
    // Linters refuse the roles that version 3.1 allows in `security`.
    ...(contract.scopes.length > 0 && { 'x-scopes': contract.scopes }),
  }),
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
  batchSummary,
  batchPage,
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
  const { paths, schemas, responses } = describeOperations(operations, publicInterface)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Shutterfleet',
      version: readProductVersion(),
      summary: 'A self-hosted screenshot service.',
      description: intro,
      contact: { name: 'The operators of this installation', url: publicUrl },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    webhooks: eventDocs(),
    components: {
      schemas: { ...schemasByName([...shared, ...answerComponents(operations), ...eventBodies]), ...schemas },
      responses,
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
