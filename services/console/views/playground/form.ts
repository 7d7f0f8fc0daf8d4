import { linesOf } from '#console/text/lines-of.ts'

/** A parameter of the API as a control: its kind, bounds and description. Generated into `controls.json`. */
export type Control = {
  readonly name: string
  readonly group: string
  readonly kind: 'line' | 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'choices' | 'lines' | 'json'
  readonly values?: readonly string[]
  readonly default?: string | number | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly feature?: string
  readonly description: string
}

/** A control's content as entered: `''` and `[]` are not set. */
export type Entry = string | boolean | readonly string[]

/** Contents by the name of their parameter; absent where nothing was entered. */
export type Entries = Readonly<Record<string, Entry>>

/** Parameters of a request to the API. */
export type Parameters = Readonly<Record<string, unknown>>

/** Why an entry is no value of its parameter. */
type EntryError = 'badJson' | 'badNumber'

const isNumeric = ({ kind }: Control) => kind === 'integer' || kind === 'number'

/** A host as people type it, with https before it. */
const withScheme = (url: string) => (/^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]|$)/.test(url) ? `https://${url}` : url)

/** The value of an entry; undefined if it is not set, or equals the default of a switch. Throws what `JSON.parse` throws. */
const valueOf = (control: Control, entry: Entry): unknown => {
  if (typeof entry === 'boolean') return entry === (control.default ?? false) ? undefined : entry
  if (typeof entry !== 'string') return entry.length === 0 ? undefined : entry
  if (entry.trim() === '') return undefined
  if (control.kind === 'lines') return linesOf(entry)
  if (control.kind === 'json') return JSON.parse(entry)
  if (control.name === 'url') return withScheme(entry.trim())
  return isNumeric(control) ? Number(entry) : entry
}

/** The request that a form describes, and the entries that cannot be sent. Bounds are the API's to check. */
export const requestOf = (
  controls: readonly Control[],
  entries: Entries,
): { readonly parameters: Parameters; readonly errors: Readonly<Record<string, EntryError>> } => {
  const parameters: Record<string, unknown> = {}
  const errors: Record<string, EntryError> = {}
  for (const control of controls) {
    const { name } = control
    try {
      const value = valueOf(control, entries[name] ?? '')
      if (Number.isNaN(value)) errors[name] = 'badNumber'
      else if (value !== undefined) parameters[name] = value
    } catch {
      errors[name] = 'badJson'
    }
  }
  return { parameters, errors }
}

const entryOf = ({ kind }: Control, value: unknown): Entry => {
  if (kind === 'json') return JSON.stringify(value, undefined, 2)
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : ''
  if (kind === 'choices') return Array.isArray(value) ? value.map(String) : []
  if (kind === 'boolean') return value === true || value === 'true'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The entries of a form that describes a request: the inverse of `requestOf`. Other names are ignored. */
export const entriesOf = (controls: readonly Control[], parameters: Parameters): Entries =>
  Object.fromEntries(
    controls.flatMap((control) => {
      const value = parameters[control.name]
      return value === undefined || value === null ? [] : [[control.name, entryOf(control, value)]]
    }),
  )

/** The parameters without those that a record fills in: the same capture, as it was asked for. A size replaces that of a device. */
export const withoutDefaults = (controls: readonly Control[], parameters: Parameters): Parameters => {
  const isDefault = (name: string) =>
    String(controls.find((control) => control.name === name)?.default) === String(parameters[name])
  const isSized = ['device', 'orientation'].some((name) => parameters[name] !== undefined && !isDefault(name))
  const isFilledIn = (name: string) => isDefault(name) && !(isSized && (name === 'width' || name === 'height'))
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !isFilledIn(name)))
}

/** Contents of pages and secrets, which no address should show. */
const notInLinks = new Set(
  'html markdown js wait_for_function actions webhook_url headers header_origins cookies local_storage session_storage proxy'.split(
    ' ',
  ),
)

const withoutPassword = (url: string): string => {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  if (parsed.username === '' && parsed.password === '') return url
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}

/** The query of a link to the form with these parameters, without secrets. */
export const queryOf = (parameters: Parameters): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (notInLinks.has(name)) continue
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    query.set(name, name === 'url' ? withoutPassword(text) : text)
  }
  return query.toString()
}

/** Names of the parameters that a link to the form leaves out, or has without what is secret. */
export const leftOutOf = (parameters: Parameters): string[] =>
  Object.entries(parameters).flatMap(([name, value]) =>
    notInLinks.has(name) || (name === 'url' && withoutPassword(String(value)) !== value) ? [name] : [],
  )

const parseList = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The parameters in the query of a link. */
export const parametersOf = (controls: readonly Control[], query: string): Parameters => {
  const given = new URLSearchParams(query)
  return Object.fromEntries(
    controls.flatMap((control) => {
      const text = given.get(control.name)
      if (text === null) return []
      const isList = control.kind === 'lines' || control.kind === 'choices' || control.kind === 'json'
      return [[control.name, isList ? parseList(text) : text]]
    }),
  )
}
