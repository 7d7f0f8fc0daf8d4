const step = '  '

/** Replaces what is between `start` and `end`; `selection` is what is selected then. */
type Edit = {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly selection: [number, number]
}

const outdented = (line: string) => line.replace(/^(?: {1,2}|\t)/, '')

/**
 * What Tab (`in`) or Shift+Tab (`out`) does to a text: within a line two spaces are inserted, several lines are indented
 * together; those of a selection, or of the caret, are moved out by up to two spaces.
 */
export const indent = (
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  direction: 'in' | 'out',
): Edit => {
  const selected = text.slice(start, end)
  if (direction === 'in' && !selected.includes('\n')) {
    const caret = start + step.length
    return { start, end, text: step, selection: [caret, caret] }
  }
  const first = text.lastIndexOf('\n', start - 1) + 1
  // A selection that ends where a line begins does not contain that line.
  const within = end > start && text[end - 1] === '\n' ? end - 1 : end
  const last = text.indexOf('\n', within) < 0 ? text.length : text.indexOf('\n', within)
  const before = text.slice(first, last)
  const lines = before.split('\n')
  const moved = lines.map((line) => (direction === 'in' ? step + line : outdented(line)))
  const inserted = moved.join('\n')
  const from = Math.max(first, start + (moved[0]?.length ?? 0) - (lines[0]?.length ?? 0))
  const to = Math.max(from, end + inserted.length - before.length)
  return { start: first, end: last, text: inserted, selection: [from, to] }
}
