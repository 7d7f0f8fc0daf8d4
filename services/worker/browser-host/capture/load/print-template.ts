import sanitizeHtml from 'sanitize-html'

const { allowedTags } = sanitizeHtml.defaults

/** Images that a template may contain: those of a file, in its own text. */
const dataImage = /^data:image\/(?:png|jpe?g|gif|webp);base64,/i

/** Rules that load sheets and fonts, and escapes that could hide them: they crash the renderer. */
const loadingRules = /@import|@font-face|\\/i

/** What the elements of a template are filled in with. */
export type TemplateFields = {
  /** In the language and time zone of the capture; Chromium knows its own only. */
  readonly date: string
  /** CSS colour of text that has none; black if null. */
  readonly colour: string | null
}

/** The reduced template, and the names of the elements that were removed. */
type Template = { readonly html: string; readonly removed: readonly string[] }

/** Text with its styles and images: what else a template may contain crashes the renderer that prints it, or does nothing. */
const sanitizing = (removed: Set<string>, { date }: TemplateFields): sanitizeHtml.IOptions => {
  const fill: sanitizeHtml.Transformer = (tagName, { class: names = '', ...attribs }) => {
    const classes = names.split(/\s+/).filter((name) => name !== 'date')
    const isDate = names.split(/\s+/).includes('date')
    return { tagName, attribs: { ...attribs, class: classes.join(' ') }, ...(isDate && { text: date }) }
  }
  const tags = [...allowedTags, 'img', 'style']
  return {
    allowedTags: tags,
    allowVulnerableTags: true,
    allowedAttributes: {
      '*': ['class', 'style', 'dir', 'lang', 'colspan', 'rowspan'],
      img: ['src', 'alt', 'width', 'height'],
    },
    allowedSchemesByTag: { img: ['data'] },
    exclusiveFilter: ({ tag, attribs, text }) => {
      const isKept = tag === 'img' ? dataImage.test(attribs['src'] ?? '') : tag !== 'style' || !loadingRules.test(text)
      if (!isKept) removed.add(tag)
      return !isKept
    },
    parseStyleAttributes: false,
    transformTags: Object.fromEntries(allowedTags.map((tag) => [tag, fill])),
    onOpenTag: (name) => {
      if (![...tags, 'html', 'head', 'body'].includes(name)) removed.add(name)
    },
  }
}

/** Reduces the header or footer of a PDF to text, styles and the images in it. */
export const printTemplate = (html: string, fields: TemplateFields): Template => {
  const removed = new Set<string>()
  const content = sanitizeHtml(html, sanitizing(removed, fields))
  const { colour } = fields
  const coloured = colour === null ? content : `<div style="display:contents;color:${colour}">${content}</div>`
  return { html: coloured, removed: [...removed] }
}
