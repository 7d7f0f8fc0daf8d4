/** What lists are for: the parameters `block_cookies`, `block_ads` and `block_chats`. */
export const listKinds = ['cookies', 'ads', 'chats'] as const

/** See `listKinds`. */
export type ListKind = (typeof listKinds)[number]

/** A list by name and version: its own `! Version:` or `! Last modified:`, else the start of its SHA-256. */
export type ListVersion = { readonly kind: ListKind; readonly name: string; readonly version: string }

/** What is known of the compiled lists of one kind beside the engine itself, which stands in `<kind>.bin`. */
export type CompiledKind = {
  /** Selectors that no id, class or address leads to: they are tried on every page. */
  readonly bases: readonly string[]
  /** Whether a rule is about more than hosts, so that each request has to be judged. */
  readonly judgesRequests: boolean
}

/** `lists.json` in a folder of compiled lists. */
export type CompiledLists = {
  /** Hash of the lists and of what compiled them. */
  readonly key: string
  readonly lists: readonly ListVersion[]
  readonly kinds: Readonly<Record<ListKind, CompiledKind>>
}

/** Name of the file that describes a folder of compiled lists. */
export const compiledIndex = 'lists.json'
