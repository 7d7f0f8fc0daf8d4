/** A fault of one place: the characters from `start` to `end` of `file` become `text`. */
export type Change = {
  readonly file: string
  readonly kind: 'operator' | 'bound' | 'condition' | 'await' | 'sql'
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The file's text with the change made. */
export const applyChange = (source: string, { start, end, text }: Change): string =>
  source.slice(0, start) + text + source.slice(end)
