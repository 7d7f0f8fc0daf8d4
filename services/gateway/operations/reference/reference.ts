import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import { type Answer, isUnchanged } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { type AnswerDoc, emptyAnswer, headerParameter } from '#gateway/openapi/schema/contract.ts'
import { typed } from '#shared/schema/fields.ts'
import type { Reference, StaticDocument } from '#gateway/openapi/reference.ts'
import { operation } from '#gateway/operations/operation.ts'

const parameters = [
  headerParameter('If-None-Match', '`ETag` that the client has; returns 304 if it is still current.', {
    type: 'string',
  }),
]

const answersOf = (description: string, type: string, schema: object): Record<number, AnswerDoc> => ({
  200: { description, headers: ['ETag', 'Cache-Control'], content: { [type]: { schema: typed({ ...schema }) } } },
  304: emptyAnswer('The content has not changed.', ['ETag', 'Cache-Control']),
})

/** Five minutes: the documents change when the service is updated. */
const cacheControl = 'public, max-age=300'

const answerStaticDocument = (
  exchange: Exchange,
  { bytes, etag }: StaticDocument,
  headers: Readonly<Record<string, string>>,
): Answer => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const validators = { etag, 'cache-control': cacheControl }
  if (isUnchanged(exchange.headers['if-none-match'], etag)) return { status: 304, headers: validators }
  const length = { 'content-length': String(bytes.length) }
  return { status: 200, headers: { ...validators, ...length, ...headers }, body: bytes }
}

/** The response with the OpenAPI document. */
export const answerDocument = (reference: Pick<Reference, 'document'>, exchange: Exchange): Answer =>
  answerStaticDocument(exchange, reference.document(), { 'content-type': 'application/json; charset=utf-8' })

/** The response with the reference page, which may connect to the server that it is from, and to the `origins`. */
export const answerPage = (
  reference: Pick<Reference, 'page'>,
  exchange: Exchange,
  origins: readonly string[] = [],
): Answer =>
  answerStaticDocument(exchange, reference.page(), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; connect-src ${["'self'", ...origins].join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  })

const documentSchema = {
  type: 'object',
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  required: ['openapi', 'info', 'paths'],
}

/** Returns the OpenAPI 3.1 document. Parameters are ignored. */
export const showOpenapi = operation({
  name: 'openapi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'Reference',
  summary: 'Get the OpenAPI document',
  description: 'Returns the API as an OpenAPI 3.1 document.',
  access: 'open',
  scopes: [],
  parameters,
  answers: answersOf('The document.', 'application/json', documentSchema),
  run: async ({ reference }, exchange) => answerDocument(reference, exchange),
})

/** Returns the reference as a page, which loads script and document from relative URLs and may connect to this service only. */
export const showDocs = operation({
  name: 'docs',
  method: 'GET',
  path: '/docs',
  tag: 'Reference',
  summary: 'Get the reference page',
  description:
    'Returns this document as an HTML page, from which requests can be sent. The page loads nothing from other hosts.',
  access: 'open',
  scopes: [],
  parameters,
  answers: answersOf('The page.', 'text/html', { type: 'string' }),
  run: async ({ reference, publicUrl }, exchange) => answerPage(reference, exchange, [new URL(publicUrl()).origin]),
})

/** Returns the page with the errors, to which `doc_url` refers; not an operation of the contract. */
export const showErrors = async ({ reference }: Context, exchange: Exchange): Promise<Answer> =>
  answerStaticDocument(exchange, reference.errors(), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  })

/** Returns the script of the page; not an operation of the contract. Always compressed: all browsers support gzip. */
export const showScript = async ({ reference }: Pick<Context, 'reference'>, exchange: Exchange): Promise<Answer> =>
  answerStaticDocument(exchange, await reference.script(), {
    'content-type': 'text/javascript; charset=utf-8',
    'content-encoding': 'gzip',
  })

/** Returns the icon of pages that name none, such as an image that was opened; not an operation of the contract. */
export const showIcon = async ({ reference }: Pick<Context, 'reference'>, exchange: Exchange): Promise<Answer> =>
  answerStaticDocument(exchange, reference.icon(), { 'content-type': 'image/svg+xml' })
