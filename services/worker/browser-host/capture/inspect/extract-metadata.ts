import { maskUrl } from '#shared/capture/mask-url.ts'
import { isAddressTag, type PageMetadata } from '#shared/capture/page-metadata.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'
import type { MainDocument } from '#worker/browser-host/capture/page/watch-document.ts'

/** Most `meta` elements, most links of one kind, and most characters of one value that are read. */
const metasMax = 1000
const linksMax = 20
const charactersMax = 2049

type Meta = { readonly property: string; readonly name: string; readonly content: string }

/** The raw values that are read from a page. */
type Source = {
  readonly title: string
  readonly language: string
  /** Base URL of addresses; '' if it is too long. */
  readonly base: string
  readonly icons: readonly string[]
  readonly canonicals: readonly string[]
  readonly metas: readonly Meta[]
}

/** Runs in an isolated world, which excludes the page's changes to globals, and elements with names such as `title`. */
const readSource = `(() => {
  const short = (text) => text.slice(0, ${charactersMax})
  const attribute = (element, name) => short(element?.getAttribute(name) ?? '')
  const all = (selector, max) => Array.from(document.querySelectorAll(selector)).slice(0, max)
  const linked = (kind) => all('link[rel~="' + kind + '"]', ${linksMax}).map((link) => attribute(link, 'href'))
  return {
    title: short(document.title),
    language: attribute(document.documentElement, 'lang'),
    base: document.baseURI.length < ${charactersMax} ? document.baseURI : '',
    icons: linked('icon'),
    canonicals: linked('canonical'),
    metas: all('meta[content]', ${metasMax}).map((meta) => ({
      property: attribute(meta, 'property'),
      name: attribute(meta, 'name'),
      content: attribute(meta, 'content'),
    })),
  }
})()`

/** A text on one line, without control characters. */
const toLine = (text: string): string | undefined => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() || undefined

/** An absolute http(s) address, with its password masked; undefined for others, and for one that was cut off. */
const resolveUrl = (text: string, base: string): string | undefined => {
  const trimmed = text.trim()
  if (trimmed === '' || text.length === charactersMax) return undefined
  const url = URL.parse(trimmed, base) ?? URL.parse(trimmed)
  return url && /^https?:$/.test(url.protocol) ? maskUrl(url.href) : undefined
}

/** The names of a tag; `property` may contain several names (RDFa 1.1 §7.4). */
const metaNames = ({ property, name }: Meta): string[] =>
  [...property.split(/\s+/), name].map((each) => each.toLowerCase())

const findFirst = (texts: readonly string[], read: (text: string) => string | undefined): string | undefined =>
  texts.map(read).find((value) => value !== undefined)

/** The tags whose names start with a prefix, without it; of a repeated tag, the first with a value. */
const collectTags = (prefix: string, { metas, base }: Source): Record<string, string> | undefined => {
  const tags = new Map<string, string>()
  for (const meta of metas) {
    for (const name of metaNames(meta)) {
      const tag = name.slice(prefix.length)
      if (!name.startsWith(prefix) || tags.has(tag)) continue
      const value = isAddressTag(tag) ? resolveUrl(meta.content, base) : toLine(meta.content)
      if (value !== undefined) tags.set(tag, value)
    }
  }
  return tags.size > 0 ? Object.fromEntries(tags) : undefined
}

const present = (fields: Readonly<Record<string, unknown>>): PageMetadata =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const toMetadata = (source: Source): PageMetadata => {
  const { base, metas } = source
  const descriptions = metas.filter((meta) => metaNames(meta).includes('description'))
  const texts = descriptions.map(({ content }) => content)
  const address = (text: string) => resolveUrl(text, base)
  return present({
    title: toLine(source.title),
    description: findFirst(texts, toLine),
    canonical: findFirst(source.canonicals, address),
    language: toLine(source.language),
    favicon: findFirst(source.icons, address),
    og: collectTags('og:', source),
    twitter: collectTags('twitter:', source),
  })
}

/**
 * Reads a page's metadata, without fetching anything; missing fields are absent. Undefined if the page kept navigating,
 * within `waitMs` and three attempts at most.
 */
export const extractMetadata = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId'> & {
    readonly document: Pick<MainDocument, 'address' | 'isNavigating' | 'loaded'>
  },
  waitMs: number,
): Promise<PageMetadata | undefined> => {
  const source = (await runInLatestDocument(open, () => readSource, performance.now() + waitMs)) as Source | undefined
  // Chromium's own page for an error response without a body has no metadata of the target.
  if (open.document.address().startsWith('chrome-error:')) return {}
  return source && toMetadata(source)
}
