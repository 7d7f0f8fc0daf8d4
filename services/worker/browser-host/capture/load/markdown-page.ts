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

type Tokens = ReturnType<typeof markdown.parse>

/** The text with which an item of a list begins; undefined where the token is not its first paragraph. */
const itemText = (tokens: Tokens, index: number) => {
  const [paragraph, item] = [tokens[index - 1], tokens[index - 2]]
  const isFirst = paragraph?.type === 'paragraph_open' && item?.type === 'list_item_open'
  return isFirst ? tokens[index]?.children?.[0] : undefined
}

markdown.core.ruler.after('inline', 'tasks', ({ tokens, Token }) => {
  for (const [index, { children }] of tokens.entries()) {
    const text = itemText(tokens, index)
    const mark = taskMark.exec(text?.content ?? '')?.groups?.['mark']
    if (!text || mark === undefined) continue
    text.content = text.content.slice(3)
    tokens[index - 2]?.attrJoin('class', 'task')
    const box = new Token('html_inline', '', 0)
    box.content = `<input type="checkbox" disabled${mark === ' ' ? '' : ' checked'}>`
    children?.unshift(box)
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
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>${markdownStyle}</style></head><body><main>${sanitizeHtml(markdown.render(source), kept)}</main></body></html>`
