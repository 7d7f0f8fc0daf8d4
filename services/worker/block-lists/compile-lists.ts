import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CosmeticFilter, FiltersEngine, type NetworkFilter, parseFilters } from '@ghostery/adblocker'
import { type CompiledKind, compiledIndex, type CompiledLists, type ListKind, listKinds } from './compiled.ts'
import { consentRules, type FilterList, cacheKey } from './read-lists.ts'

/** Scripts, procedural selectors and document changes are not applied: lists only block requests and hide elements. */
const config = {
  loadCSPFilters: false,
  loadExtendedSelectors: false,
  enableHtmlFiltering: false,
  enableMutationObserver: false,
}

type ConsentRule = {
  readonly name: string
  readonly prehideSelectors?: readonly string[]
  readonly detectPopup: readonly ConsentStep[]
  readonly runContext?: { readonly urlPattern?: string }
}

type ConsentStep = { readonly visible?: unknown; readonly any?: readonly ConsentStep[] }

/** The selectors by which a step detects a banner, if they begin with an id or a class; others match more than one platform. */
const visibleIn = ({ visible, any = [] }: ConsentStep): string[] => [
  ...(typeof visible === 'string' && /^[#.]/.test(visible) ? [visible] : []),
  ...any.flatMap(visibleIn),
]

/** The selectors that autoconsent hides before it opts out, and those by which it detects the banner. */
const containerSelectors = ({ prehideSelectors = [], detectPopup }: ConsentRule): readonly string[] => [
  ...prehideSelectors,
  ...detectPopup.flatMap(visibleIn),
]

/** Cosmetic rules for the banners of the consent platforms in autoconsent's rules, without rules for a single site. */
const consentContainers = (): string => {
  const { autoconsent } = JSON.parse(readFileSync(consentRules().file, 'utf8')) as { autoconsent: ConsentRule[] }
  return (
    autoconsent
      .filter(({ name, runContext }) => !runContext?.urlPattern && !name.startsWith('Test page'))
      .flatMap(containerSelectors)
      // One rule per selector, so that the engine indexes each by its id or class.
      .flatMap((selector) => (/[([]/.test(selector) ? [selector] : selector.split(',')))
      .map((selector) => `##${selector.trim()}`)
      .join('\n')
  )
}

const isPlainHostRule = (filter: NetworkFilter): boolean =>
  filter.isHostnameAnchor() && !filter.hasFilter() && filter.fromAny() && !filter.isException() && !filter.hasDomains()

/** Whether the engine finds the filter by no class, id, link or host, so that it applies to every page. */
const isUnindexed = (filter: CosmeticFilter): boolean =>
  filter.isGenericHide() &&
  !filter.isClassSelector() &&
  !filter.isIdSelector() &&
  !filter.isHrefSelector() &&
  !filter.hasCustomStyle() &&
  !filter.hasHostnameConstraint() &&
  !filter.isExtended()

const compileKind = (texts: readonly string[]): { readonly engine: Uint8Array; readonly kind: CompiledKind } => {
  const lines = new Set(texts.flatMap((text) => text.split('\n')))
  const filters = parseFilters([...lines].join('\n'), config)
  const { networkFilters, cosmeticFilters } = filters
  const unhidden = new Set(cosmeticFilters.filter((filter) => filter.isUnhide()).map((filter) => filter.getSelector()))
  const bases = cosmeticFilters
    .filter((filter) => isUnindexed(filter) && !unhidden.has(filter.getSelector()))
    .map((filter) => filter.getSelector())
  return {
    engine: new FiltersEngine({ ...filters, config }).serialize(),
    kind: { bases: [...new Set(bases)], judgesRequests: !networkFilters.every(isPlainHostRule) },
  }
}

/** Compiles lists into the folder `<into>/<key>` unless it exists, and returns its path. Safe to run concurrently. */
export const compileLists = async (lists: readonly FilterList[], outputFolder: string): Promise<string> => {
  const key = cacheKey(lists)
  const folder = join(outputFolder, key)
  if (existsSync(join(folder, compiledIndex))) return folder
  const textsOfKind = (kind: ListKind) => lists.filter((list) => list.kind === kind).map(({ text }) => text)
  const compiled = listKinds.map(
    (kind) =>
      [kind, compileKind([...textsOfKind(kind), ...(kind === 'cookies' ? [consentContainers()] : [])])] as const,
  )
  const versions = lists.map(({ kind, name, version }) => ({ kind, name, version }))
  const index: CompiledLists = {
    key,
    lists: [...versions, { kind: 'cookies', name: 'autoconsent', version: consentRules().version }],
    kinds: Object.fromEntries(compiled.map(([name, { kind }]) => [name, kind])) as CompiledLists['kinds'],
  }
  const work = join(outputFolder, `.${randomUUID()}`)
  await mkdir(work, { recursive: true })
  try {
    for (const [name, { engine }] of compiled) await writeFile(join(work, `${name}.bin`), engine)
    await writeFile(join(work, compiledIndex), JSON.stringify(index))
    await rename(work, folder)
  } catch (error) {
    await rm(work, { recursive: true, force: true })
    if (!existsSync(join(folder, compiledIndex))) throw error
  }
  return folder
}
