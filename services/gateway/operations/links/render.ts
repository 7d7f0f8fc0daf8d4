import { Readable } from 'node:stream'
import { captureErrorCodes, type ErrorCode } from '#shared/errors/catalog.ts'
import { renderLink } from '#gateway/capture/render-link.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { expiresPattern } from '#gateway/links/links.ts'
import { linkQuery } from '#gateway/openapi/capture-parameters.ts'
import {
  emptyAnswer,
  headerParameter,
  imageContent,
  imageHeaderNames,
  queryParameter,
} from '#gateway/openapi/schema/contract.ts'
import { operation } from '#gateway/operations/operation.ts'

const parameters = [
  {
    ...queryParameter('key_id', 'Id of the key whose link secret signed the link.', { type: 'string' }),
    required: true,
  },
  queryParameter('expires', 'Unix time in seconds at which the link expires; absent: it does not.', {
    type: 'string',
    pattern: expiresPattern.source,
  }),
  queryParameter('placeholder', '`true`: a grey image is returned while the first capture is made.', {
    type: 'boolean',
    default: false,
  }),
  headerParameter('If-None-Match', '`ETag` that the client has; returns 304 if it is still current.', {
    type: 'string',
  }),
  ...linkQuery(),
]

const errors: readonly ErrorCode[] = [
  ...(['USAGE_LIMIT_EXCEEDED', 'DOMAIN_NOT_ALLOWED', 'FEATURE_NOT_AVAILABLE', 'INVALID_SIGNATURE'] as const),
  ...(['SIGNATURE_EXPIRED', 'NOT_FOUND', 'NOT_READY', 'EXPIRED', 'VALIDATION_ERROR', 'QUEUE_FULL'] as const),
  ...captureErrorCodes,
]

const headers = [...imageHeaderNames, 'X-Link-State'] as const
const unchangedAnswer = emptyAnswer('The image has not changed.', [
  'ETag',
  'X-Screenshot-Id',
  'X-Cache',
  'Cache-Control',
  'X-Link-State',
])

const description =
  'Returns the image of a signed link, which needs no API key: its capture is made when it is first viewed, and again when `cache_ttl` (default 86400, at least 60 seconds) has passed, while the last image is still returned. A view of a link that has an image is free of charge. All other parameters are those of a capture, and all are signed: see docs/links.md.'

/** Returns the image of a link, which is captured on demand. */
export const renderByLink = operation({
  name: 'render',
  method: 'GET',
  path: '/render',
  tag: 'Links',
  summary: 'Show a link that captures on demand',
  description,
  access: 'signature',
  scopes: [],
  parameters,
  answers: {
    200: {
      description: 'The image; before the first one, the placeholder, if the link has one.',
      headers,
      content: imageContent,
    },
    304: unchangedAnswer,
  },
  errors,
  run: renderLink,
})

const withoutBody = async (context: Context, exchange: Exchange): Promise<Answer> => {
  const { body, ...answer } = await renderLink(context, exchange)
  if (body instanceof Readable) body.destroy()
  return answer
}

/** Returns the headers of a link's image; a view like any other. */
export const describeRender = operation({
  name: 'render_head',
  method: 'HEAD',
  path: '/render',
  tag: 'Links',
  summary: 'Get the headers of a link that captures on demand',
  description: 'As the GET, without the image.',
  access: 'signature',
  scopes: [],
  parameters,
  answers: { 200: emptyAnswer('The image is available.', headers), 304: unchangedAnswer },
  errors,
  run: withoutBody,
})
