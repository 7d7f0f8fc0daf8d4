import { createHmac, timingSafeEqual } from 'node:crypto'
import type { LinkKey } from '#shared/config/settings/links.ts'

/** Longest time of a link that is not permanent, in minutes. */
export const linkMinutesMax = 525_600

/** What a link's query says. `expires` is a Unix time in seconds; a permanent link has none. */
export type LinkQuery = { readonly expires?: string; readonly kid: string; readonly signature: string }

/** What a link is for, and until when. */
type Subject = { readonly id: string; readonly expires: string | undefined }

/** Everything that a link says is signed, so that none of it can be exchanged. */
const sign = ({ id, secret }: LinkKey, of: Subject): Buffer =>
  createHmac('sha256', secret)
    .update(`GET\n/v1/screenshots/${of.id}/image\n${of.expires ?? ''}\n${id}`)
    .digest()

/** The query of a link to the image of a capture. `expires`: Unix time in whole seconds; undefined for a permanent link. */
export const signLink = (key: LinkKey, id: string, expires: number | undefined): string => {
  const until = expires === undefined ? undefined : String(expires)
  const signature = sign(key, { id, expires: until }).toString('hex')
  return new URLSearchParams({ ...(until !== undefined && { expires: until }), kid: key.id, signature }).toString()
}

/**
 * The link that a query (without its question mark) holds, if it names a signature. Parts that are missing are empty, and so
 * is what is given twice or in another spelling than that of `signLink`.
 */
export const readLink = (query: string): LinkQuery | undefined => {
  const given = new URLSearchParams(query)
  if (!given.has('signature')) return undefined
  const pairs = query.split('&')
  const once = (name: string) => {
    const [value = '', ...more] = given.getAll(name)
    return more.length === 0 && pairs.includes(new URLSearchParams({ [name]: value }).toString()) ? value : ''
  }
  return {
    kid: once('kid'),
    signature: once('signature'),
    ...(given.has('expires') && { expires: once('expires') }),
  }
}

/** Whether a link is one of ours for this capture, and still holds at `now`. The signature is compared in constant time. */
export const judgeLink = (
  keys: readonly LinkKey[],
  id: string,
  link: LinkQuery,
  now: Date,
): 'good' | 'forged' | 'expired' => {
  const { expires, kid, signature } = link
  const key = keys.find((each) => each.id === kid)
  if (!key || !/^[0-9a-f]{64}$/.test(signature)) return 'forged'
  if (expires !== undefined && !/^[0-9]{1,12}$/.test(expires)) return 'forged'
  if (!timingSafeEqual(Buffer.from(signature, 'hex'), sign(key, { id, expires }))) return 'forged'
  return expires !== undefined && Number(expires) * 1000 <= now.getTime() ? 'expired' : 'good'
}
