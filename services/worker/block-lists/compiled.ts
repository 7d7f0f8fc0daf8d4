/** Kinds of lists, one for each of the parameters `block_cookies`, `block_ads`, `block_trackers` and `block_chats`. */
export const listKinds = ['cookies', 'ads', 'trackers', 'chats'] as const

/** See `listKinds`. */
export type ListKind = (typeof listKinds)[number]

/** A list by name and version: its `! Version:` or `! Last modified:`, else the start of its SHA-256. */
export type ListVersion = { readonly kind: ListKind; readonly name: string; readonly version: string }

/** The compiled lists of one kind, without the engine, which is in `<kind>.bin`. */
export type CompiledKind = {
  /** Generic selectors that the engine cannot index by id, class or URL, so that they are applied to every page. */
  readonly bases: readonly string[]
  /** Whether a rule matches more than hosts, so that each request has to be checked. */
  readonly judgesRequests: boolean
}

/** `lists.json` in a folder of compiled lists. */
export type CompiledLists = {
  /** Hash of the lists and of their compiler; see `keyOf`. */
  readonly key: string
  readonly lists: readonly ListVersion[]
  readonly kinds: Readonly<Record<ListKind, CompiledKind>>
}

/** Name of the file that describes a folder of compiled lists. */
export const compiledIndex = 'lists.json'
