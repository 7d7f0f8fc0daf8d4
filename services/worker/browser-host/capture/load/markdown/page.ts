import MarkdownIt from 'markdown-it'
import { full as emoji } from 'markdown-it-emoji'
import footnotes from 'markdown-it-footnote'
import alerts from 'markdown-it-github-alerts'
import sanitizeHtml from 'sanitize-html'
import { drawDiagrams } from './diagrams.ts'
import { type FrontMatter, splitFrontMatter } from './front-matter.ts'
import { createHighlight } from './highlight.ts'
import { createPageMath, readMath } from './math.ts'
import { markdownStyle } from './style.ts'

type Markdown = InstanceType<typeof MarkdownIt>

/** An item of a list that begins with `[ ]` or `[x]` (GFM §5.3). */
const taskMark = /^\[(?<mark>[ xX])\]\s/

type Tokens = ReturnType<Markdown['parse']>

/** The first text of a list item; undefined if the token is not in the item's first paragraph. */
const itemText = (tokens: Tokens, index: number) => {
  const [paragraph, item] = [tokens[index - 1], tokens[index - 2]]
  const isFirst = paragraph?.type === 'paragraph_open' && item?.type === 'list_item_open'
  return isFirst ? tokens[index]?.children?.[0] : undefined
}

const readTasks = (markdown: Markdown) =>
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

/** The id that GitHub gives a heading. */
const toSlug = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')

/** Characters without a space after which a line may break: no word of a language is longer, but addresses and keys are. */
const longRun = /\S{40}(?=\S)/gu

/** Lets what is longer than any word break, so that a table need not break words to fit. */
const breakLongRuns = ({ renderer, utils }: Markdown) => {
  const render = (text: string) => text.replaceAll(longRun, '$&\n').split('\n').map(utils.escapeHtml).join('<wbr>')
  renderer.rules['text'] = (tokens, index) => render(tokens[index]?.content ?? '')
  renderer.rules['code_inline'] = (tokens, index) => `<code>${render(tokens[index]?.content ?? '')}</code>`
}

type Heading = { readonly tag: string; readonly text: string }

/** Gives each heading an id, numbered if it repeats; links and `scroll_to` lead there. Passes on each heading. */
const readHeadings = (markdown: Markdown, found: (heading: Heading) => void) =>
  markdown.core.ruler.push('headings', ({ tokens }) => {
    const repeats = new Map<string, number>()
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'heading_open') continue
      const text = (tokens[index + 1]?.children ?? []).map(({ content }) => content).join('')
      const slug = toSlug(text)
      const repeat = repeats.get(slug) ?? 0
      repeats.set(slug, repeat + 1)
      token.attrSet('id', repeat === 0 ? slug : `${slug}-${repeat}`)
      found({ tag: token.tag, text })
    }
  })

const { allowedTags, allowedAttributes } = sanitizeHtml.defaults

/** Raw HTML allowed in Markdown: text, structure and pictures; nothing that runs, loads a document or takes input. */
const sanitizing: sanitizeHtml.IOptions = {
  allowedTags: allowedTags.concat([
    'img',
    'input',
    'del',
    'ins',
    'details',
    'summary',
    'picture',
    'source',
    'svg',
    'path',
  ]),
  allowedAttributes: {
    ...allowedAttributes,
    '*': ['class', 'id', 'title', 'align', 'dir', 'lang'],
    a: ['href', 'name'],
    img: ['src', 'srcset', 'alt', 'width', 'height'],
    source: ['srcset', 'media', 'type'],
    input: [{ name: 'type', multiple: false, values: ['checkbox'] }, 'checked', 'disabled'],
    th: ['colspan', 'rowspan', 'style'],
    td: ['colspan', 'rowspan', 'style'],
    svg: ['viewbox', 'width', 'height'],
    path: ['d'],
  },
  allowedStyles: { '*': { 'text-align': [/^(?:left|right|center)$/] } },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https', 'data'] },
}

/** Renders the text of a page; its fences of math and diagrams are no code. */
const renderText = (text: string) => {
  const markdown = new MarkdownIt({ html: true, linkify: true, highlight: createHighlight() })
  const { escapeHtml } = markdown.utils
  const math = createPageMath(escapeHtml)
  let title: string | undefined
  let hasDiagrams = false
  readMath(markdown, math.render)
  readTasks(markdown)
  breakLongRuns(markdown)
  readHeadings(markdown, ({ tag, text: heading }) => {
    if (tag === 'h1') title ??= heading
  })
  markdown.use(footnotes).use(alerts).use(emoji, { shortcuts: {} })
  const { fence } = markdown.renderer.rules
  markdown.renderer.rules['fence'] = (...parameters) => {
    const [tokens, index] = parameters
    const { info = '', content = '' } = tokens[index] ?? {}
    const [language] = info.trim().split(/\s/)
    if (language === 'math') return math.render(content, true)
    if (language !== 'mermaid') return fence?.(...parameters) ?? ''
    hasDiagrams = true
    return `<pre class="mermaid"><code>${escapeHtml(content)}</code></pre>\n`
  }
  const content = math.insert(sanitizeHtml(markdown.render(text), sanitizing))
  return { content, title, style: markdownStyle + math.style(), hasDiagrams, escapeHtml }
}

/** A Markdown source as a page. */
export type MarkdownPage = {
  readonly html: string
  /** Expression that draws the diagrams of the loaded page, for an isolated world; undefined if it has none. */
  readonly script: string | undefined
}

/**
 * Renders Markdown as a page: CommonMark with GitHub's tables, task lists, strikethrough, links, footnotes, alerts, emoji,
 * heading ids, math and diagrams; code highlighted, raw HTML sanitised. Front matter gives the page its title and metadata.
 */
export const markdownPage = (source: string): MarkdownPage => {
  const { matter, text } = splitFrontMatter(source)
  const { content, title, style, hasDiagrams, escapeHtml } = renderText(text)
  const { language = 'en', metas }: FrontMatter = matter
  const head = [
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(matter.title ?? title ?? '')}</title>`,
    ...Object.entries(metas).map(([name, value]) => `<meta name="${name}" content="${escapeHtml(value)}">`),
    `<style>${style}</style>`,
  ].join('\n')
  const html = `<!doctype html><html lang="${escapeHtml(language)}"><head>${head}</head><body><main>${content}</main></body></html>`
  return { html, script: hasDiagrams ? drawDiagrams : undefined }
}
