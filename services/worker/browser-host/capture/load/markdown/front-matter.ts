import { parse } from 'yaml'

/** Metadata that a Markdown source states before its text. */
export type FrontMatter = {
  readonly title?: string
  readonly language?: string
  /** Content of `meta` elements by name. */
  readonly metas: Readonly<Record<string, string>>
}

/** Most characters of front matter; a longer block is shown as text. */
const charactersMax = 10_000

/** The YAML at the start of a source, between its first line and the line that ends it, and the text after that. */
const cutFrontMatter = (source: string): { readonly yaml: string; readonly text: string } | undefined => {
  const [first = '', ...lines] = source.slice(0, charactersMax).split('\n')
  if (first.replace('\uFEFF', '').trimEnd() !== '---') return undefined
  const end = lines.findIndex((line) => ['---', '...'].includes(line.trimEnd()))
  if (end === -1) return undefined
  const yaml = lines.slice(0, end).join('\n')
  const last = lines[end] ?? ''
  return { yaml, text: source.slice(first.length + 1 + (end === 0 ? 0 : yaml.length + 1) + last.length + 1) }
}

const named = ['description', 'author', 'keywords'] as const

const toText = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return value.flatMap((each) => toText(each) ?? []).join(', ') || undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

const parseMapping = (yaml: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = parse(yaml, { schema: 'failsafe', maxAliasCount: 10 })
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/**
 * Separates a Markdown source from its front matter: YAML between `---` lines at its very start. A block that is no mapping, or
 * has more than 10,000 characters, remains part of the text.
 */
export const splitFrontMatter = (source: string): { readonly matter: FrontMatter; readonly text: string } => {
  const block = cutFrontMatter(source)
  const mapping = block && parseMapping(block.yaml)
  if (!mapping) return { matter: { metas: {} }, text: source }
  const [title, language] = [toText(mapping['title']), toText(mapping['lang'] ?? mapping['language'])]
  const metas = Object.fromEntries(
    named.flatMap((name) => {
      const text = toText(mapping[name] ?? (name === 'keywords' ? mapping['tags'] : undefined))
      return text === undefined ? [] : [[name, text]]
    }),
  )
  const matter = { ...(title !== undefined && { title }), ...(language !== undefined && { language }), metas }
  return { matter, text: block.text }
}
