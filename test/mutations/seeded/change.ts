/** A single-place fault: replaces the characters from `start` to `end` of `file` by `text`. */
export type Change = {
  readonly file: string
  readonly kind: 'operator' | 'bound' | 'condition' | 'await' | 'sql'
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Returns the file's text with the change applied. */
export const applyChange = (source: string, { start, end, text }: Change): string =>
  source.slice(0, start) + text + source.slice(end)
