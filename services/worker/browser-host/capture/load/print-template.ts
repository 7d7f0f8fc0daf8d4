import sanitizeHtml from 'sanitize-html'

const { allowedTags } = sanitizeHtml.defaults

/** Text with its styles: what else a template may contain crashes the renderer that prints it, or does nothing. */
const sanitizing: sanitizeHtml.IOptions = {
  allowedTags,
  allowedAttributes: { '*': ['class', 'style', 'dir', 'lang', 'colspan', 'rowspan'] },
  parseStyleAttributes: false,
}

/** Reduces the header or footer of a PDF to text and styles. */
export const printTemplate = (html: string): string => sanitizeHtml(html, sanitizing)
