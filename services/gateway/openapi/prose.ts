import { markup, type Html } from './markup.ts'

/** A sentence in which pieces between backquotes are code. */
export const code = (sentence: string): Html => {
  const pieces = sentence
    .split('`')
    .map((piece, index) => (index % 2 === 1 ? markup`<code>${piece}</code>` : markup`${piece}`))
  return markup`${pieces}`
}

/** Paragraphs, which an empty line divides. */
export const prose = (text: string): Html =>
  markup`${text
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => markup`<p>${code(paragraph)}</p>`)}`
