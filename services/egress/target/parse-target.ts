import { AppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { formatAuthority, normalHost } from '#shared/policy/host.ts'
import type { TargetLists } from '#shared/policy/target-lists.ts'

/** What a client connects to: a normal host (address without brackets, or name) and a port. */
export type Target = { readonly host: string; readonly port: number }

/** A target with the `Host` header and the path and query of the request to it. */
export type PlainTarget = Target & { readonly hostHeader: string; readonly path: string }

/**
 * Where a client's request goes: its target, the caller's proxy if any, the lists of targets of the capture's account, and the
 * ports of this filter.
 */
export type Route = {
  readonly target: Target
  readonly proxy: CallersProxy | undefined
  readonly lists: TargetLists
  readonly ownPorts: readonly number[]
}

const malformed = (message: string) => new AppError('BAD_REQUEST', { message })

/** Reads the authority of a CONNECT request, `host:port` or `[ipv6]:port`. Throws `BAD_REQUEST`. */
export const parseAuthority = (text: string): Target => {
  const [, hostText = '', portText = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  const host = normalHost(hostText)
  const port = Number(portText)
  if (host === undefined || port > 65_535) throw malformed('the authority is not host:port')
  return { host, port }
}

/** Reads the absolute form of a plain request; other schemes than http come as CONNECT. Throws `BAD_REQUEST`. */
export const parseAbsolute = (text: string): PlainTarget => {
  const url = /^http:\/\//i.test(text) ? URL.parse(text) : null
  const host = url === null ? undefined : normalHost(url.hostname)
  if (url === null || host === undefined) throw malformed('the request target is not an absolute http address')
  return { host, port: Number(url.port || 80), hostHeader: url.host, path: url.pathname + url.search }
}

/** Reads the origin form, path and query, of a plain request; the text cannot change `target`. Throws `BAD_REQUEST`. */
export const parseOrigin = (text: string, target: Target): PlainTarget => {
  if (!text.startsWith('/')) throw malformed('the request target is not a path')
  return parseAbsolute(`http://${formatAuthority(target)}${text}`)
}
