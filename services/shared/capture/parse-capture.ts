import type { FieldFaults } from '#shared/errors/app-error.ts'
import type { AllowTarget } from '#shared/policy/allow-list.ts'
import { checkCookieDomains, checkCookies } from './check-cookies.ts'
import { checkHeaders } from './check-headers.ts'
import { checkMargins } from './check-margins.ts'
import { checkSchema } from './check-schema.ts'
import { checkSize } from './check-size.ts'
import { checkTargets } from './check-targets.ts'
import { collectFaults, type Report } from './faults.ts'
import { type Feature, featuresOf } from './features.ts'
import { type CaptureOptions, type CaptureParameters, type Format, withDefaults } from './options.ts'
import { type ResponseType, unavailableIn } from './unavailable.ts'

/** What a request is judged by beside the contract: the operator's allowed targets, and the operation's kind of answer. */
export type CaptureRules = { readonly allow: readonly AllowTarget[]; readonly defaultResponse: ResponseType }

/** A request's parameters within all bounds. `unavailable` holds what this version cannot do; it is refused last. */
export type ParsedCapture = {
  readonly ok: true
  readonly supplied: CaptureParameters
  readonly options: CaptureOptions
  readonly features: readonly Feature[]
  readonly unavailable: FieldFaults | undefined
}

/** The verdict on a request's parameters, with all faults at once. */
export type CaptureVerdict = ParsedCapture | { readonly ok: false; readonly faults: FieldFaults }

const sourceNames = ['url', 'html', 'markdown'] as const

/** Formats that have an alpha channel and an encoder that keeps it. */
const transparentFormats: readonly Format[] = ['png', 'webp']

const checkSource = (input: Readonly<Record<string, unknown>>, report: Report) => {
  const given = sourceNames.filter((name) => input[name] !== undefined)
  if (given.length === 0) report('url', 'is required; or give html or markdown')
  if (given.length > 1) for (const name of given) report(name, 'must be the only one of url, html, markdown')
}

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, entry]) => name.isWellFormed() && isWellFormed(entry))
}

/** Whether the name is one of the IANA time zone database, as ICU has it. Offsets such as `+01:00` are not names. */
const isTimeZone = (name: string): boolean => {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

const checkAllCookies = ({ cookies, html, markdown }: CaptureParameters, host: string | undefined, report: Report) => {
  if (!cookies) return
  checkCookies(cookies, report)
  const hostIsKnown = host !== undefined || html !== undefined || markdown !== undefined
  if (hostIsKnown) checkCookieDomains(cookies, host, report)
}

const checkMeaning = (options: CaptureParameters, allow: readonly AllowTarget[], report: Report) => {
  const { format = 'png', headers, timezone } = options
  const host = checkTargets(options, allow, report)
  if (headers) checkHeaders(headers, report)
  checkAllCookies(options, host, report)
  if (options.omit_background && !transparentFormats.includes(format)) {
    report('omit_background', `works with the formats ${transparentFormats.join(' and ')} only`)
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    report('timezone', 'must be an IANA time zone such as Europe/Paris')
  }
  checkMargins(options, report)
}

/** Judges the parameters of one capture: their schema, then what they mean together. Reports all faults at once. */
export const parseCapture = (input: unknown, rules: CaptureRules): CaptureVerdict => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { ok: false, faults: { body: ['must be a JSON object'] } }
  }
  const parameters = input as Readonly<Record<string, unknown>>
  const { report, has, all } = collectFaults()
  if (checkSize(parameters, report)) {
    checkSchema(parameters, report)
    for (const [name, value] of Object.entries(parameters)) {
      if (!has(name) && !isWellFormed(value)) report(name, 'must be well-formed Unicode')
    }
    const sound = Object.fromEntries(Object.entries(parameters).filter(([name]) => !has(name))) as CaptureParameters
    checkSource(parameters, report)
    checkMeaning(sound, rules.allow, report)
  }
  const faults = all()
  if (faults) return { ok: false, faults }
  const supplied = { ...parameters } as CaptureParameters
  return {
    ok: true,
    supplied,
    options: withDefaults(supplied),
    features: featuresOf(supplied),
    unavailable: unavailableIn(supplied, rules.defaultResponse),
  }
}
