import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FiltersEngine, Request, type NetworkFilter } from '@ghostery/adblocker'
import {
  type CompiledKind,
  compiledIndex,
  type CompiledLists,
  listKinds,
  type ListKind,
} from '#worker/block-lists/compiled.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** The compiled rules of one kind of list. */
export type BlockEngine = CompiledKind & { readonly kind: ListKind; readonly rules: FiltersEngine }

/** Loads compiled lists; takes milliseconds. */
export const loadEngines = (folder: string): readonly BlockEngine[] => {
  const { kinds } = JSON.parse(readFileSync(join(folder, compiledIndex), 'utf8')) as CompiledLists
  return listKinds.map((kind) => ({
    kind,
    ...kinds[kind],
    rules: FiltersEngine.deserialize(readFileSync(join(folder, `${kind}.bin`))),
  }))
}

/** Addresses are cut to this before matching; pages control their length. */
const urlCharactersMax = 4096
/** Most hosts of a page that are stored as admitted, and as refused. */
const hostsMax = 10_000

/** A request to match against the rules; `resourceType` and `frameId` as in CDP's `Fetch.requestPaused`. */
export type InterceptedRequest = { readonly url: string; readonly resourceType: string; readonly frameId: string }

/** What a document contains that rules may match. */
export type Tokens = {
  readonly ids: readonly string[]
  readonly classes: readonly string[]
  readonly hrefs: readonly string[]
  /** Those of `bases` that match something. */
  readonly bases: readonly string[]
}

/** A cosmetic rule; `style` contains CSS declarations, undefined: hide the matches. */
export type HidingRule = { readonly selector: string; readonly style: string | undefined }

/** Registrable domain of a host; the host itself if there is none. */
const siteOf = (host: string): string => Request.fromRawDetails({ url: `https://${host}/` }).domain || host

const hostIn = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : URL.parse(url)?.hostname || undefined

const isAboutHost = (filter: NetworkFilter): boolean => !filter.hasFilter()

const rulesFor = ({ rules, bases }: BlockEngine, url: string, tokens: Tokens): HidingRule[] => {
  const { hostname, domain } = Request.fromRawDetails({ url })
  const { ids, classes, hrefs } = tokens
  const page = { url, hostname, domain, ids: [...ids], classes: [...classes], hrefs: [...hrefs] }
  const { matches, allowGenericHides } = rules.matchCosmeticFilters({
    ...page,
    getInjectionRules: false,
    getExtendedRules: false,
  })
  const found = matches.flatMap(({ filter, exception }): HidingRule[] => {
    if (!filter || exception || filter.isScriptInject() || filter.isExtended()) return []
    return [{ selector: filter.getSelector(), style: filter.hasCustomStyle() ? filter.getStyle() : undefined }]
  })
  const own = new Set(allowGenericHides ? bases : [])
  return [
    ...found,
    ...tokens.bases.filter((selector) => own.has(selector)).map((selector) => ({ selector, style: undefined })),
  ]
}

/**
 * Decides what one capture does not load or show, by the kinds of lists in its plan. `address` returns the address of the
 * document that was requested last, '' before the first. Neither its site nor the target's is refused.
 */
export const createBlocker = (
  engines: readonly BlockEngine[],
  { blocks, hidesPopups, source }: Pick<CapturePlan, 'blocks' | 'hidesPopups' | 'source'>,
  { address, mainFrameId }: { readonly address: () => string; readonly mainFrameId: string },
) => {
  const active = engines.filter(({ kind }) => blocks[kind])
  const admitted = new Set<string>()
  const refused = new Set<string>()
  const isSiteHost = (host: string) =>
    [source.url, address()].some((url) => {
      const own = hostIn(url)
      return own !== undefined && (own === host || siteOf(own) === siteOf(host))
    })
  const matching = (url: string, type: string): readonly NetworkFilter[] => {
    const sourceUrl = address() || source.url || ''
    const request = Request.fromRawDetails({ url, type: type as Request['type'], sourceUrl })
    for (const { rules } of active) {
      const { match, filter } = rules.match(request)
      // `match` returns one of the matching rules; all are needed for the page's own site, where host rules do not apply.
      if (match && filter)
        return isAboutHost(filter) && isSiteHost(request.hostname) ? [...rules.matchAll(request)] : [filter]
    }
    return []
  }
  const refusesRequest = ({ url: whole, resourceType, frameId }: InterceptedRequest) => {
    const url = whole.slice(0, urlCharactersMax)
    const host = hostIn(url) ?? ''
    const isDocument = resourceType === 'Document'
    const isMain = isDocument && frameId === mainFrameId
    const filters = isMain ? [] : matching(url, isDocument ? 'sub_frame' : resourceType.toLowerCase())
    const isRefused = filters.some((filter) => !isAboutHost(filter) || !isSiteHost(host))
    if (!isRefused && admitted.size < hostsMax) admitted.add(host)
    return isRefused
  }
  return {
    /** Whether connections to this host are refused; never for the site of the page. */
    refusesHost: (host: string): boolean => {
      const isRefused =
        !admitted.has(host) && !isSiteHost(host) && matching(`https://${host}/`, 'other').some(isAboutHost)
      if (isRefused && refused.size < hostsMax) refused.add(host)
      return isRefused
    },
    /** Whether a connection to this host was refused. */
    hasRefused: (host: string): boolean => refused.has(host),
    /** Undefined if all rules are about hosts. */
    refusesRequest: active.some(({ judgesRequests }) => judgesRequests) ? refusesRequest : undefined,
    /** Whether anything is hidden. */
    hides: active.length > 0 || hidesPopups,
    /** Whether what lies over the page to ask visitors for something is hidden. */
    hidesPopups,
    /** Whether consent banners are hidden, those of no list too. */
    hidesConsent: blocks.cookies,
    /** Selectors to test on every document. */
    bases: active.flatMap(({ bases }) => bases),
    /** The rules for a document with these tokens: for consent banners, and all others. */
    hidingFor: (url: string, tokens: Tokens) => {
      const lists = (isConsent: boolean) =>
        active
          .filter(({ kind }) => (kind === 'cookies') === isConsent)
          .flatMap((engine) => rulesFor(engine, url, tokens))
      return { consent: lists(true), others: lists(false) }
    },
  }
}

/** See `createBlocker`. */
export type Blocker = Readonly<ReturnType<typeof createBlocker>>
