import highlighter from 'highlight.js/lib/common'
import MarkdownIt from 'markdown-it'
import sanitizeHtml from 'sanitize-html'

/** Style of a Markdown page: one readable column; dark in dark mode; wraps wide content, as a picture cannot be scrolled; highlight.js' class names. */
export const markdownStyle = `
:root { --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #fff; --code: #f6f8fa; --link: #0969da;
  --keyword: #cf222e; --string: #0a3069; --number: #0550ae; --name: #6639ba }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --soft: #9198a1; --line: #3d444d; --back: #0d1117; --code: #151b23; --link: #4493f8;
    --keyword: #ff7b72; --string: #a5d6ff; --number: #79c0ff; --name: #d2a8ff }
}
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, "Noto Sans", sans-serif }
main { max-width: 780px; margin: 0 auto; padding: 40px 32px; overflow-wrap: break-word }
main > :first-child { margin-top: 0 }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.5em 0 .6em }
h1, h2 { padding-bottom: .3em; border-bottom: 1px solid var(--line) }
p, ul, ol, blockquote, pre, table { margin: 0 0 1em }
a { color: var(--link) }
img { max-width: 100% }
hr { border: 0; border-top: 2px solid var(--line); margin: 2em 0 }
blockquote { padding: 0 1em; color: var(--soft); border-left: 4px solid var(--line) }
code { font: .875em/1.5 ui-monospace, "Noto Sans Mono", monospace; background: var(--code); padding: .2em .4em; border-radius: 4px }
pre { background: var(--code); padding: 16px; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere }
pre code { padding: 0; background: none }
table { border-collapse: collapse; max-width: 100%; overflow-wrap: anywhere }
th, td { border: 1px solid var(--line); padding: 6px 13px }
tr:nth-child(2n) td { background: var(--code) }
li.task { list-style: none }
li.task input { margin: 0 .4em 0 -1.4em }
.hljs-comment, .hljs-quote { color: var(--soft) }
.hljs-keyword, .hljs-tag, .hljs-deletion, .hljs-meta { color: var(--keyword) }
.hljs-string, .hljs-regexp, .hljs-addition { color: var(--string) }
.hljs-number, .hljs-literal, .hljs-attr, .hljs-attribute, .hljs-built_in, .hljs-variable { color: var(--number) }
.hljs-title, .hljs-name, .hljs-type, .hljs-section { color: var(--name) }
`

/** Bounds of the code that is highlighted, in one block and in a page: the highlighter's time can grow by the square of the size. */
const blockCharactersMax = 10_000
const pageCharactersMax = 50_000

/** Creates the highlighting of one page: a block beyond the bounds stays plain. */
const createHighlight = () => {
  let charactersLeft = pageCharactersMax
  return (code: string, language: string): string => {
    if (code.length > Math.min(blockCharactersMax, charactersLeft) || !highlighter.getLanguage(language)) return ''
    charactersLeft -= code.length
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value
  }
}

const markdown = new MarkdownIt({ html: true, linkify: true })

/** An item of a list that begins with `[ ]` or `[x]` (GFM §5.3). */
const taskMark = /^\[(?<mark>[ xX])\]\s/

type Tokens = ReturnType<typeof markdown.parse>

/** The first text of a list item; undefined if the token is not in the item's first paragraph. */
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

/** Raw HTML allowed in Markdown: text, structure and pictures; nothing that runs, loads a document or takes input. */
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

/** Renders Markdown as a page: CommonMark with GFM's tables, task lists, strikethrough and links; code highlighted, raw HTML sanitised. */
export const markdownPage = (source: string): string => {
  const content = sanitizeHtml(markdown.set({ highlight: createHighlight() }).render(source), kept)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>${markdownStyle}</style></head><body><main>${content}</main></body></html>`
}
