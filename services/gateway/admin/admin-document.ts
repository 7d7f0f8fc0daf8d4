import { readProductVersion } from '#shared/config/product-version.ts'
import { headerComponents, type HeaderName } from '#gateway/openapi/schema/answer-headers.ts'
import {
  answerComponents,
  componentsIn,
  describeOperations,
  type Interface,
  schemasByName,
} from '#gateway/openapi/schema/describe-operations.ts'
import type { JsonSchema } from '#shared/schema/fields.ts'
import type { AdminRoute, AdminTag } from './admin-route.ts'
import { adminRoutes } from './admin-routes.ts'

/** Path prefix of every operation of the admin API. */
export const adminPrefix = '/admin/v1'

const intro = `Operates an installation: accounts, keys, queue, maintenance, and how it is doing.

Every operation requires \`Authorization: Bearer <admin token>\`, of \`SHUTTERFLEET_ADMIN_TOKEN\` or \`SHUTTERFLEET_ADMIN_TOKENS\`. Results
are returned in \`data\`, errors in \`error\` with a machine-readable code. Every response has the header \`X-Request-Id\`. Times are ISO
8601 UTC. Within v1, fields, codes, parameters and operations are added but never removed: clients should ignore unknown ones.`

const tagDescriptions: Readonly<Record<AdminTag, string>> = {
  Accounts: 'The accounts, with their plans.',
  Keys: 'The API keys of accounts.',
  'Sign-in links': 'Links that sign people in to the console.',
  Queue: 'The captures of each account that have not ended, and those that failed.',
  Service: 'Plans, maintenance and the audit log.',
  Installation: 'The installation at work.',
}

const errorHeaders = (status: number): readonly HeaderName[] => {
  if (status === 401) return ['WWW-Authenticate', 'Cache-Control']
  return status === 429 || status === 503 ? ['Retry-After', 'Cache-Control'] : ['Cache-Control']
}

const adminInterface: Interface<AdminRoute> = {
  prefix: adminPrefix,
  commonHeaders: ['X-Request-Id'],
  errorHeaders,
  errorWords: {
    messages: {
      INVALID_API_KEY: 'The token is missing or wrong.',
      RATE_LIMIT_EXCEEDED: 'Too many wrong tokens from this address.',
      FORBIDDEN: 'The installation does not allow it.',
    },
    details: { plan: ['is not a plan in force (free, pro)'] },
    namesScreenshots: false,
  },
  describeAccess: ({ description, givesCredential }) => ({
    description: givesCredential ? `${description} Not served in the console.` : description,
    security: [{ adminToken: [] }],
  }),
}

/** Describes the admin API in OpenAPI 3.1. Its server is that of the document. */
export const adminDocument = (): JsonSchema & { readonly paths: Record<string, Record<string, JsonSchema>> } => {
  const { paths, schemas, responses } = describeOperations(adminRoutes, adminInterface)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Shutterfleet administration',
      version: readProductVersion(),
      summary: 'The administration of a self-hosted screenshot service.',
      description: intro,
      contact: { name: 'The operators of this installation' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ adminToken: [] }],
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...schemasByName(componentsIn(answerComponents(adminRoutes))), ...schemas },
      responses,
      headers: headerComponents(['X-Request-Id', 'Cache-Control', 'Retry-After', 'WWW-Authenticate']),
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: 'A token of the administration.' },
      },
    },
  }
}
