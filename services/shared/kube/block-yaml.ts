import assert from 'node:assert/strict'

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Texts that are longer are folded over lines of at most as many characters, their indentation not counted. */
const foldChars = 100
const step = '  '

/** Words that YAML 1.1 or 1.2 reads as something else than text. */
const reserved = /^(y|yes|n|no|on|off|true|false|null|\.inf|\.nan)$/i

/** Begins with what begins nothing else, ends with no space, and holds neither `: ` nor ` #` nor what is not printable. */
const plain = /^(?![^]*(: | #))(?:[A-Za-z$^(/]|\.[A-Za-z])[\u0020-\u007e]*(?<![ :])$/

/** Single spaces between printable words, so that folding gives back exactly the text. */
const foldable = /^[\u0021-\u007e]+( [\u0021-\u007e]+)+$/

/** What JSON writes as it is, and YAML does not take or takes for the end of a line. */
const escaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/**
 * A value as YAML in block style, as people write it; the same value gives the same text. Every YAML 1.1 or 1.2 reader
 * reads back the value. Throws for what JSON or Unicode does not know: infinite numbers, halves of characters.
 */
export const blockYaml = (value: { readonly [key: string]: Json }): string => `${linesOf(value).join('\n')}\n`

const isBranch = (value: Json): value is readonly Json[] | { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0

const linesOf = (value: Json): string[] => {
  if (!isBranch(value)) return leafOf(value)
  if (Array.isArray(value)) return value.flatMap((item: Json) => hang('- ', linesOf(item)))
  return Object.entries(value).flatMap(([key, each]) => {
    const name = `${oneLine(key)}:`
    const lines = linesOf(each)
    return isBranch(each) ? [name, ...indented(lines)] : [`${name} ${lines[0]}`, ...indented(lines.slice(1))]
  })
}

const indented = (lines: readonly string[]) => lines.map((line) => step + line)

const hang = (mark: string, lines: readonly string[]) =>
  lines.map((line, index) => (index === 0 ? mark : ' '.repeat(mark.length)) + line)

const leafOf = (value: Json): string[] => {
  if (typeof value === 'number') assert(Number.isFinite(value), 'a number of JSON')
  if (typeof value !== 'string') return [JSON.stringify(value)]
  return value.length > foldChars && foldable.test(value) ? ['>-', ...folded(value)] : [oneLine(value)]
}

const oneLine = (text: string): string => {
  assert(text.isWellFormed(), 'a text of Unicode')
  return plain.test(text) && !reserved.test(text) ? text : JSON.stringify(text).replaceAll(escaped, hexEscape)
}

const hexEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const folded = (text: string): string[] => {
  const lines: string[] = []
  let line = ''
  for (const each of text.split(' ')) {
    const longer = line === '' ? each : `${line} ${each}`
    if (line !== '' && longer.length > foldChars) lines.push(line)
    line = line !== '' && longer.length > foldChars ? each : longer
  }
  return [...lines, line]
}
