/** Most bytes that a template may become; an object key of S3 has at most 1,024, and consists of two templates. */
const renderedBytesMax = 512
/** Most characters of a template. */
export const keyTemplateMax = 256

/** What the placeholders of a template stand for. */
export type KeyFacts = {
  readonly id: string
  /** Time of acceptance, ISO 8601 UTC. */
  readonly createdAt: string
  /** Null if the source is HTML or Markdown. */
  readonly url: string | null
  readonly format: string
}

/** Longest value of each placeholder, in bytes. */
const longest = { id: 36, date: 10, host: 253, format: 4 } as const

type Placeholder = keyof typeof longest

/** The placeholders as templates contain them. */
export const keyPlaceholders = Object.keys(longest).map((name) => `{${name}}`)

/** The key under the prefix if a request names none. */
export const defaultKeyTemplate = '{id}.{format}'

/** Characters that no store, shell or browser treats specially; each has one byte. */
const form = /^(?:[A-Za-z0-9!_.=+@,()'-]|\/|\{(?:id|date|host|format)\})*$/
const placeholder = /\{(id|date|host|format)\}/g

/** What is wrong with a template of an object key; undefined if it is valid. */
export const keyTemplateProblem = (template: string): string | undefined => {
  if (!form.test(template)) {
    return `must contain only letters, digits, /!_.=+@,()'- and the placeholders ${keyPlaceholders.join(', ')}`
  }
  if (template.startsWith('/') || template.includes('//')) return 'must not begin with / or contain //'
  if (template.split('/').some((part) => part === '.' || part === '..')) return 'must not contain . or .. as a segment'
  const bytes = template.replaceAll(placeholder, (_, name: Placeholder) => '-'.repeat(longest[name])).length
  return bytes > renderedBytesMax
    ? `may become ${bytes} bytes long, at most ${renderedBytesMax} are allowed`
    : undefined
}

/** The host of a URL as a part of a key; `inline` for HTML and Markdown. */
const hostOf = (url: string | null): string =>
  (url === null ? 'inline' : (URL.parse(url)?.hostname ?? 'inline'))
    .replaceAll(/[^a-z0-9.-]/g, '_')
    .slice(0, longest.host)

/** The key of an object: prefix and template with their placeholders replaced. */
export const renderKey = (prefix: string, template: string, { id, createdAt, url, format }: KeyFacts): string => {
  const values: Readonly<Record<Placeholder, string>> = { id, date: createdAt.slice(0, 10), host: hostOf(url), format }
  return (prefix + template).replaceAll(placeholder, (_, name: Placeholder) => values[name])
}

/** A capture, whose options contain `format` and the template `upload_key`, if one was requested. */
type UploadedCapture = Omit<KeyFacts, 'format'> & { readonly options: Readonly<Record<string, unknown>> }

/** The key of a capture's object under the prefix of its destination; always the same for the same capture. */
export const renderCaptureKey = (prefix: string, { options, ...capture }: UploadedCapture): string => {
  const { upload_key: template = defaultKeyTemplate, format } = options
  return renderKey(prefix, String(template), { ...capture, format: String(format) })
}
