/** What Playwright and jQuery take for pseudo-classes and CSS does not know; a browser refuses them, or would match another thing. */
const foreign = new Set(
  (
    'above below has-text left-of light near nth-match right-of text text-is text-matches visible ' +
    'contains eq even first gt hidden last lt odd'
  ).split(' '),
)

const escape = String.raw`\\(?:[0-9a-fA-F]{1,6}\s?|[^0-9a-fA-F])`
const letter = String.raw`[A-Za-z_\u{80}-\u{10ffff}]|${escape}`
const name = String.raw`(?:--|-?(?:${letter}))(?:[0-9-]|${letter})*`
const text = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`

// One token each, at the place where the last one ended (`y`), so that a selector is read once.
const part = new RegExp(String.raw`(?<element>${name}|\*)|[#.]${name}|(?<pseudo>::?${name})(?<opens>\()?`, 'uy')
const namespace = /\*?\|(?!\|)/uy
const attribute = new RegExp(
  String.raw`\[\s*(?:\*?\|)?${name}\s*(?:[~|^$*]?=\s*(?:${name}|${text})\s*(?:[isIS]\s*)?)?\]`,
  'uy',
)
const combinator = /\s*[>+~,]\s*|\s+/uy
const argument = new RegExp(String.raw`${text}|${escape}|(?<pseudo>:${name})|(?<bracket>[()[\]])|[^"'\\]`, 'uy')

type Reading = { readonly selector: string; at: number }

const take = (reading: Reading, token: RegExp): RegExpExecArray | undefined => {
  token.lastIndex = reading.at
  const found = token.exec(reading.selector)
  if (!found) return undefined
  reading.at = token.lastIndex
  return found
}

const isForeign = (pseudo: string | undefined): boolean =>
  pseudo !== undefined && foreign.has(pseudo.replace(/^:+/, '').toLowerCase())

/** Reads to the end of arguments whose parenthesis is open: brackets must match; what they mean differs by pseudo-class. */
const takeArguments = (reading: Reading): boolean => {
  const closing = [')']
  while (closing.length > 0) {
    const { pseudo, bracket } = take(reading, argument)?.groups ?? { bracket: 'none' }
    if (isForeign(pseudo)) return false
    if (bracket === '(') closing.push(')')
    else if (bracket === '[') closing.push(']')
    else if (bracket !== undefined && bracket !== closing.pop()) return false
  }
  return true
}

/** Reads what one element is matched by, such as `a.b[c]:d(e)`; a name or `*` stands first or not at all. */
const takeCompound = (reading: Reading): boolean => {
  let mustBeElement = take(reading, namespace) !== undefined
  for (let first = true; ; first = false) {
    const found = take(reading, part) ?? take(reading, attribute)
    if (!found) return !first
    const { element, pseudo, opens } = found.groups ?? {}
    if (element === undefined ? mustBeElement : !first) return false
    if (isForeign(pseudo) || (opens !== undefined && !takeArguments(reading))) return false
    mustBeElement = false
  }
}

/**
 * Whether a text of one line is a list of CSS selectors (Selectors 4 §18) as far as its form tells, and nothing of what
 * Playwright adds to CSS. Arguments of pseudo-classes are looked through for brackets and foreign names only.
 */
export const isSelector = (selector: string): boolean => {
  const reading: Reading = { selector: selector.trim(), at: 0 }
  while (takeCompound(reading)) {
    if (reading.at === reading.selector.length) return true
    if (!take(reading, combinator)) return false
  }
  return false
}
