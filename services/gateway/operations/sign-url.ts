import { collectFaults } from '#shared/capture/faults.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { captureUrls } from '#shared/db/record.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { parseJson } from '#gateway/http/parse-json.ts'
import { validationError } from '#gateway/http/read-parameters.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { refusalError } from '#gateway/http/refusal-error.ts'
import { signLink } from '#gateway/links/link.ts'
import { pathId } from '#gateway/http/path-id.ts'
import type { Operation } from './operation.ts'

const feature = 'signed_urls'
/** Longest and usual time of a link, in minutes. */
export const linkMinutes = { max: 525_600, usual: 60 } as const

const isMinutes = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= linkMinutes.max

/** Minutes for which the link holds; 0 for ever. An empty body asks for nothing special. */
const readMinutes = async (exchange: Exchange): Promise<number> => {
  const bytes = await exchange.readBody()
  const body = bytes.length === 0 ? {} : parseJson(bytes, exchange.contentType)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw validationError({ body: ['must be a JSON object'] })
  }
  const { report, all } = collectFaults()
  const { expires_in: minutes = linkMinutes.usual, ...unknown } = body as Record<string, unknown>
  if (!isMinutes(minutes)) report('expires_in', `must be a whole number from 0 to ${linkMinutes.max}`)
  for (const name of Object.keys(unknown)) report(name, 'is not a parameter')
  const faults = all()
  if (faults) throw validationError(faults)
  return minutes as number
}

/** `POST /screenshots/{id}/signed-url`: a link to the image that needs no API key. The capture need not have ended. */
export const signUrl: Operation = async (context, exchange) => {
  const caller = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const minutes = await readMinutes(exchange)
  const of = { id: pathId(exchange), accountId: caller.accountId }
  const { allowed, found } = await context.captures.maySign(of)
  if (!allowed) throw refusalError({ ok: false, code: 'FEATURE_NOT_AVAILABLE', feature })
  if (!found) throw new AppError('NOT_FOUND')
  const [key] = context.links.keys
  if (!key) throw new AppError('SERVER_ERROR', { message: 'there is no key to sign links with' })
  const expires = minutes === 0 ? undefined : Math.floor(context.now().getTime() / 1000) + minutes * 60
  const expiresAt = expires === undefined ? null : new Date(expires * 1000).toISOString().replace('Z', '000Z')
  const url = `${captureUrls(context.publicUrl(), of.id).image}?${signLink(key, of.id, expires)}`
  return { status: 200, body: { data: { url, expires_at: expiresAt, expires_in: minutes } } }
}
