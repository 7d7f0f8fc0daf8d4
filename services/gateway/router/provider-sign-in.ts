import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Cell } from '#shared/config/settings/router.ts'
import { readCookie, writeCookie } from '#gateway/http/identification/secure-cookie.ts'
import { publicPath, withoutPublicPath } from '#gateway/http/public-path.ts'
import { pathOf } from './credential.ts'

const startPath = '/console/sign-in/oidc'
const callbackPath = `${startPath}/callback`
/** Where a cell sends whom it does not know or cannot look up; another one may know the person, also without a verified email address. */
const goesOn = /^\/console\/sign-in\?error=(?:no_account|unverified|busy)$/

/** Says at which cell a sign-in goes on, and which page of the console it leads to. */
const cookieName = 'shutterfleet_sign_in_cell'
const cookieSeconds = 600
/** Longest path of a page that is kept. */
const pathMax = 1000

type Kept = { readonly cell: Cell; readonly to: string; readonly wasBusy: boolean }

/** How a request of a sign-in with the provider is routed: the cells to try, and the response's headers when one has answered. */
type SignInRoute = {
  readonly cells: readonly Cell[]
  readonly adapt: (cell: Cell, headers: IncomingHttpHeaders) => IncomingHttpHeaders
}

const write = ({ cell, to, wasBusy }: Kept) => `${cell.name}.${wasBusy ? 'busy' : ''}.${encodeURIComponent(to)}`

const cookieForm = /^(?<name>[^.]+)\.(?<busy>busy)?\.(?<to>.*)$/

const read = (cells: readonly Cell[], value = ''): Kept | undefined => {
  const { name, busy, to = '' } = cookieForm.exec(value)?.groups ?? {}
  const cell = cells.find((each) => each.name === name)
  // Decodes whatever somebody else wrote there; gateways check the path.
  return cell && { cell, to: new URLSearchParams(`to=${to}`).get('to') ?? '', wasBusy: busy !== undefined }
}

const nothingKept = { cell: undefined, to: '', wasBusy: false }

/** A sign-in that begins anew forgets an earlier one. */
const readStart = (cells: readonly Cell[], url: string, kept: Kept | undefined) => {
  const query = new URLSearchParams(url.split('?')[1])
  const cell = cells.find(({ name }) => name === query.get('cell'))
  return { cell, to: query.get('to') ?? '', wasBusy: cell !== undefined && kept?.cell === cell && kept.wasBusy }
}

/** `kept` is what the next request finds; undefined: nothing. */
type Step = { readonly kept: Kept | undefined; readonly location?: string }

/** The cell that has begun the sign-in has to end it; one that was passed over may be that of the person. */
const begin = (cell: Cell, passedOver: boolean, { to, wasBusy }: Omit<Kept, 'cell'>): Step => ({
  kept: { cell, to: to.length > pathMax ? '' : to, wasBusy: wasBusy || passedOver },
})

const end = (cells: readonly Cell[], { cell, to, wasBusy }: Kept, location: string): Step => {
  if (!goesOn.test(location)) return { kept: undefined }
  const isBusy = wasBusy || location.endsWith('busy')
  const next = cells[cells.indexOf(cell) + 1]
  if (!next) return { kept: undefined, ...(isBusy && { location: '/console/sign-in?error=busy' }) }
  const again = `${startPath}?cell=${next.name}&to=${encodeURIComponent(to)}`
  return { kept: { cell: next, to, wasBusy: isBusy }, location: again }
}

/**
 * Routes a sign-in with the provider, by which nobody can tell beforehand whose account it leads to: to one cell after the other,
 * each with a sign-in of its own, for which the provider need not ask again. Undefined for other requests.
 */
export const routeProviderSignIn = (
  { cells, publicUrl }: { readonly cells: readonly Cell[]; readonly publicUrl: string },
  { url = '', headers }: IncomingMessage,
): SignInRoute | undefined => {
  const path = pathOf(url)
  const base = publicPath(publicUrl)
  const isStart = path === startPath
  if (cells.length === 1 || (!isStart && path !== callbackPath)) return undefined
  const found = readCookie(headers, cookieName, publicUrl)
  const kept = read(cells, found)
  const { cell: from, to, wasBusy } = isStart ? readStart(cells, url, kept) : (kept ?? nothingKept)
  const tried = from ? cells.slice(cells.indexOf(from)) : cells

  const adapt: SignInRoute['adapt'] = (cell, sent) => {
    const step = isStart
      ? begin(cell, cell !== tried[0], { to, wasBusy })
      : end(cells, { cell, to, wasBusy }, withoutPublicPath(sent.location ?? '', base))
    if (!step.kept && found === undefined) return sent
    const value = step.kept ? write(step.kept) : ''
    const cookie = writeCookie({ name: cookieName, value, maxAgeSeconds: step.kept ? cookieSeconds : 0 }, publicUrl)
    const location = step.location === undefined ? sent.location : base + step.location
    return {
      ...sent,
      ...(location !== undefined && { location }),
      'set-cookie': [sent['set-cookie'] ?? [], cookie].flat(),
    }
  }
  return { cells: tried, adapt }
}
