import { AppError } from '#shared/errors/app-error.ts'
import { noLists } from '#shared/policy/target-lists.ts'
import type { Context } from '#gateway/context/context.ts'
import { featureMessage } from '#gateway/db/feature-error.ts'
import { findRendering, type Rendering } from '#gateway/db/render-links.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Client } from '#shared/policy/client.ts'
import { originHostOf } from '#gateway/http/identification/identify.ts'
import { readLinkCapture } from '#gateway/links/read-link-capture.ts'
import { readRenderLink, type RenderLink } from '#gateway/links/render-link.ts'
import type { CaptureToCreate } from './create-capture.ts'
import { cacheKeyOf } from './prepare-capture.ts'
import { captureRules, type CaptureRequest } from './read-request.ts'

/** A verified view of a link. */
export type View = {
  readonly link: RenderLink
  readonly capture: Pick<CaptureRequest, 'parsed' | 'originHost'> & Pick<CaptureToCreate, 'traceparent'>
  readonly exchange: Exchange
  /** Called with the capture that the view had accepted. */
  readonly noteAccepted: (accepted: NonNullable<Answer['accepted']>) => void
  /** The state of the link, as it is now. */
  readonly read: () => Promise<Rendering>
}

const takeView = ({ links }: Context, client: Client): void => {
  const retryAfterSeconds = links.limit.take(client)
  if (retryAfterSeconds === 0) return
  const publicMessage = `Too many requests with signed links from this address; try again in ${retryAfterSeconds} seconds.`
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

/**
 * Verifies signature, then expiry, then the client's limit, then the parameters; only the key is read before. Throws an error for
 * the viewer otherwise.
 */
export const openView = async (
  context: Context,
  exchange: Exchange,
  noteAccepted: View['noteAccepted'],
): Promise<View> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const link = readRenderLink(exchange.query)
  const client = context.clients.find(exchange)
  await context.linkVerifier.admit(link, client)
  if (link.expires !== undefined && link.expires * 1000 <= context.now().getTime()) {
    throw new AppError('SIGNATURE_EXPIRED')
  }
  takeView(context, client)
  // The installation's lists of targets refuse new captures only: a view is neither told their entries nor kept from the last image.
  const parsed = readLinkCapture(link.captureQuery, captureRules({ ...context, targetLists: noLists }))
  const cacheKey = cacheKeyOf(parsed.options)
  const originHost = originHostOf(exchange.headers)
  const { cache_ttl: ttlSeconds } = parsed.options
  return {
    link,
    exchange,
    noteAccepted,
    capture: { parsed, originHost, traceparent: exchange.traceparent },
    read: async () => {
      const { keyId } = link
      const state = await findRendering(context.database, { keyId, originHost, cacheKey, ttlSeconds })
      const rendering = context.linkVerifier.confirm(link, state, client)
      if (!rendering.allowsHost) throw new AppError('DOMAIN_NOT_ALLOWED')
      // Without the plan that has it: viewers learn nothing about the account.
      const publicMessage = featureMessage(['signed_urls'], undefined)
      if (!rendering.hasFeature) throw new AppError('FEATURE_NOT_AVAILABLE', { publicMessage })
      return rendering
    },
  }
}
