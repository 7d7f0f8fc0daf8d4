import highlighter from 'highlight.js/lib/common'
import MarkdownIt from 'markdown-it'
import sanitizeHtml from 'sanitize-html'
import { markdownStyle } from './markdown-style.ts'

/** Longest block of code that is coloured; what is longer stays plain. */
const colouredCharacters = 50_000

const highlight = (code: string, language: string): string => {
  if (code.length > colouredCharacters || !highlighter.getLanguage(language)) return ''
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}

const markdown = new MarkdownIt({ html: true, linkify: true, highlight })

/** An item of a list that begins with `[ ]` or `[x]` (GFM §5.3). */
const taskMark = /^\[(?<mark>[ xX])\]\s/

markdown.core.ruler.after('inline', 'tasks', ({ tokens, Token }) => {
  for (const [index, token] of tokens.entries()) {
    const isFirstOfItem = tokens[index - 1]?.type === 'paragraph_open' && tokens[index - 2]?.type === 'list_item_open'
    const [text] = token.children ?? []
    const mark = isFirstOfItem && text ? taskMark.exec(text.content)?.groups?.['mark'] : undefined
    if (!text || mark === undefined) continue
    text.content = text.content.slice(3)
    tokens[index - 2]?.attrJoin('class', 'task')
    const box = new Token('html_inline', '', 0)
    box.content = `<input type="checkbox" disabled${mark === ' ' ? '' : ' checked'}>`
    token.children?.unshift(box)
  }
})

const { allowedTags, allowedAttributes } = sanitizeHtml.defaults

/** What raw HTML in Markdown may hold: text and its structure, pictures, nothing that runs, loads a document or asks for input. */
const kept: sanitizeHtml.IOptions = {
  allowedTags: [...allowedTags, 'img', 'input', 'del', 'ins', 'details', 'summary', 'picture', 'source'],
  allowedAttributes: {
    ...allowedAttributes,
    '*': ['class', 'id', 'title', 'align', 'dir', 'lang'],
    a: ['href', 'name'],
    img: ['src', 'srcset', 'alt', 'width', 'height'],
    source: ['srcset', 'media', 'type'],
    input: [{ name: 'type', multiple: false, values: ['checkbox'] }, 'checked', 'disabled'],
    th: ['colspan', 'rowspan', 'style'],
    td: ['colspan', 'rowspan', 'style'],
  },
  allowedStyles: { '*': { 'text-align': [/^(?:left|right|center)$/] } },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https', 'data'] },
}

/** The page that a Markdown source becomes: CommonMark with GFM's tables, task lists, strikethrough and links, code coloured, raw HTML sanitised. */
export const markdownPage = (source: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<style>${markdownStyle}</style></head><body><main>${sanitizeHtml(markdown.render(source), kept)}</main></body></html>`
