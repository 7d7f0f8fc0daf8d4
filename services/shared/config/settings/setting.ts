/** Result of parsing a setting: its value, or a problem that is worded to follow the variable's name. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string }

/**
 * One setting of a service. Its environment variable is `SHUTTERFLEET_` plus `name`. If it is secret, `…_FILE` reads it from a
 * file, and no message contains it.
 */
export type Setting<T> = {
  readonly name: string
  readonly help: string
  /** Type, unit and bounds as the documentation shows them. */
  readonly kind: string
  /** Text of the default; undefined if the setting is required, '' if absent means "none". */
  readonly fallback: string | undefined
  readonly secret: boolean
  readonly parse: (text: string) => Parsed<T>
}

/** A group of settings by the name that code reads them under. */
export type Settings = Readonly<Record<string, Setting<unknown>>>

type Common = { readonly help: string; readonly fallback?: string; readonly secret?: boolean }

const setting = <T>(name: string, kind: string, common: Common, parse: Setting<T>['parse']): Setting<T> => ({
  name,
  kind,
  help: common.help,
  fallback: common.fallback,
  secret: common.secret ?? false,
  parse,
})

/** A whole number within bounds, both included; `unit` is for the documentation. */
export const integer = (
  name: string,
  common: Omit<Common, 'fallback'> & { fallback?: number; min: number; max: number; unit?: string },
): Setting<number> => {
  const { min, max, unit, fallback, ...rest } = common
  const kind = `integer${unit ? `, ${unit}` : ''}, ${min} to ${max}`
  return setting(name, kind, fallback === undefined ? rest : { ...rest, fallback: String(fallback) }, (text) => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      return { ok: false, problem: `must be a whole number from ${min} to ${max}` }
    }
    return { ok: true, value }
  })
}

/** A whole number within bounds, both included, or undefined if it is not set. */
export const optionalInteger = (
  name: string,
  common: { help: string; min: number; max: number; unit?: string },
): Setting<number | undefined> => {
  const required = integer(name, common)
  return {
    ...required,
    fallback: '',
    parse: (text) => (text === '' ? { ok: true, value: undefined } : required.parse(text)),
  }
}

/** A port to listen on; the help says that 0 takes a free one. */
export const port = (name: string, { help, fallback }: { help: string; fallback: number }): Setting<number> =>
  integer(name, { help: `${help}; 0 takes a free one`, fallback, min: 0, max: 65_535 })

/** A value parsed by `parse`, which returns undefined for an invalid text; the error is then `problem`. */
export const parsed = <T>(
  name: string,
  { kind, problem, ...common }: Common & { readonly kind: string; readonly problem: string },
  parse: (text: string) => T | undefined,
): Setting<T> =>
  setting(name, kind, common, (written) => {
    const value = parse(written)
    return value === undefined ? { ok: false, problem } : { ok: true, value }
  })

/** Any text of at least one character, unless its fallback is ''. */
export const text = (name: string, common: Common): Setting<string> =>
  parsed(name, { ...common, kind: 'text', problem: 'must not be empty' }, (value) =>
    value === '' && common.fallback !== '' ? undefined : value,
  )

/** `true` or `false`. */
export const flag = (name: string, common: { help: string; fallback: boolean }): Setting<boolean> =>
  setting(name, 'true or false', { help: common.help, fallback: String(common.fallback) }, (value) =>
    value === 'true' || value === 'false'
      ? { ok: true, value: value === 'true' }
      : { ok: false, problem: 'must be true or false' },
  )

/** One of the listed words. */
export const oneOf = <const T extends string>(
  name: string,
  { values, ...common }: { help: string; fallback?: NoInfer<T>; values: readonly T[] },
): Setting<T> =>
  parsed(name, { ...common, kind: values.join(' | '), problem: `must be one of ${values.join(', ')}` }, (value) =>
    values.find((candidate) => candidate === value),
  )

/** The entries of a list that are separated by commas or white space. */
export const splitEntries = (value: string): string[] => value.split(/[\s,]+/).filter((entry) => entry !== '')

/** Of an address that cannot be read with the user and password that it contains. */
const encodingAdvice = (value: string): string =>
  /^\w{1,20}:\/\//.test(value) && value.includes('@')
    ? '; percent-encode its password: / as %2F, # as %23, ? as %3F, % as %25'
    : ''

/** An absolute address with one of the given schemes, without a trailing slash; '' becomes undefined if the fallback is ''. */
export const address = (name: string, common: Common & { schemes: readonly string[] }): Setting<string | undefined> =>
  setting(name, `address (${common.schemes.join(', ')})`, common, (value) => {
    if (value === '' && common.fallback === '') return { ok: true, value: undefined }
    const scheme = URL.parse(value)?.protocol.slice(0, -1)
    return scheme !== undefined && common.schemes.includes(scheme)
      ? { ok: true, value: value.replace(/\/+$/, '') }
      : {
          ok: false,
          problem: `must be an address that begins with ${common.schemes.map((s) => `${s}://`).join(' or ')}${encodingAdvice(value)}`,
        }
  })

/** A required address; see `address`. */
export const requiredAddress = (
  name: string,
  common: Omit<Common, 'fallback'> & { schemes: readonly string[] },
): Setting<string> => address(name, common) as Setting<string>

/** A list separated by commas; empty entries are dropped. */
export const list = (name: string, common: Common): Setting<readonly string[]> =>
  setting(name, 'list, separated by commas', common, (value) => ({
    ok: true,
    value: value.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])),
  }))
