import highlighter from 'highlight.js/lib/common'

/** Bounds of the code that is highlighted, in one block and in a page: the highlighter's time can grow quadratically with the size. */
const blockCharactersMax = 10_000
const pageCharactersMax = 50_000

/** Creates the highlighting of one page: a block beyond the bounds stays plain. */
export const createHighlight = () => {
  let charactersLeft = pageCharactersMax
  return (code: string, language: string): string => {
    if (code.length > Math.min(blockCharactersMax, charactersLeft) || !highlighter.getLanguage(language)) return ''
    charactersLeft -= code.length
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value
  }
}
