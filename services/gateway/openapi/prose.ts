import { html, type Html } from './html.ts'

/** A sentence in which pieces between backquotes are code. */
export const code = (sentence: string): Html => {
  const pieces = sentence
    .split('`')
    .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))
  return html`${pieces}`
}

/** Paragraphs, which an empty line divides. */
export const prose = (text: string): Html =>
  html`${text
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => html`<p>${code(paragraph)}</p>`)}`
