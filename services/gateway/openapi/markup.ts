/** Text that is HTML already. */
export type Html = { readonly text: string }

type Part = string | Html | undefined | readonly Html[]

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A text as HTML shows it. */
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character)

/** HTML that is put into other HTML as it is. */
export const raw = (text: string): Html => ({ text })

const textOf = (part: Part): string => {
  if (part === undefined) return ''
  if (typeof part === 'string') return escaped(part)
  return 'text' in part ? part.text : part.map((each) => each.text).join('')
}

/** A template of HTML: texts that are put into it are escaped, HTML is not. */
export const markup = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  text: String.raw({ raw: strings }, ...parts.map(textOf)),
})
