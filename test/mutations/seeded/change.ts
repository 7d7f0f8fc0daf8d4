/** What a change gets wrong. */
export type ChangeKind =
  | 'operator'
  | 'bound'
  | 'unit'
  | 'condition'
  | 'await'
  | 'assignment'
  | 'jump'
  | 'statement'
  | 'property'
  | 'argument'
  | 'entry'
  | 'name'
  | 'sql'

/** Offsets of the first character and of the one after the last. */
export type Range = { readonly start: number; readonly end: number }

/** The characters of the range become `text`. */
export type Edit = Range & { readonly text: string }

/** A fault at a single place. */
export type Place = Edit & { readonly kind: ChangeKind }

/** A fault in a file. */
export type Change = Place & { readonly file: string }

/** A range and what replaces it. */
export const replace = (kind: ChangeKind, { start, end }: Range, text: string): Place => ({ kind, start, end, text })

/** Returns the file's text with the edit applied. */
export const applyEdit = (source: string, { start, end, text }: Edit): string =>
  source.slice(0, start) + text + source.slice(end)
