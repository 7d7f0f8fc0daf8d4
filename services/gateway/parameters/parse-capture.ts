import type { FieldErrors } from '#shared/errors/app-error.ts'
import { checkCombinations } from './check-combinations.ts'
import { checkCookieDomains, checkCookies } from './check-cookies.ts'
import { checkHeaderOrigins, checkHeaders } from './check-headers.ts'
import { createSchemaCheck } from '#shared/capture/check-schema.ts'
import { checkSelectors } from './check-selectors.ts'
import { checkSize } from './check-size.ts'
import { checkTargets, type InstallationRules } from './check-targets.ts'
import { collectErrors, type ErrorCollector, type Report } from '#shared/capture/validation-errors.ts'
import { type Feature, usedFeatures } from '#shared/capture/features.ts'
import { isRequested } from '#shared/capture/is-requested.ts'
import {
  type CaptureOptions,
  type CaptureParameters,
  captureParameters,
  withDefaults,
} from '#shared/capture/options.ts'

/** Rules of this installation: which targets it allows, and whether it has a full Chromium for `stealth`. */
export type CaptureRules = InstallationRules & { readonly hasStealth: boolean }

/** Valid parameters of a request. `unavailable`: errors for what this installation does not support; refused last. */
export type ParsedCapture = {
  readonly ok: true
  readonly supplied: CaptureParameters
  readonly options: CaptureOptions
  readonly features: readonly Feature[]
  readonly unavailable: FieldErrors | undefined
}

/** The result of validating a request's parameters, with all errors at once. */
export type ParseCaptureResult = ParsedCapture | { readonly ok: false; readonly errors: FieldErrors }

const noStealth =
  'is not available in this installation, which has no full Chromium: its operator sets SHUTTERFLEET_STEALTH_CHROMIUM for workers and SHUTTERFLEET_SEALING_KEY_STEALTH for the gateway'

const checkParameters = createSchemaCheck(captureParameters)

const sourceNames = ['url', 'html', 'markdown'] as const

const checkSource = (input: Readonly<Record<string, unknown>>, report: Report) => {
  const supplied = sourceNames.filter((name) => input[name] !== undefined)
  if (supplied.length === 0) report('url', 'is required unless html or markdown is given')
  if (supplied.length > 1) for (const name of supplied) report(name, 'must be the only one of url, html, markdown')
}

const checkWellFormed = (field: string, value: unknown, report: Report) => {
  if (typeof value === 'string' && !value.isWellFormed()) report(field, 'must be well-formed Unicode')
  if (typeof value !== 'object' || value === null) return
  for (const [name, entry] of Object.entries(value)) checkWellFormed(`${field}.${name}`, entry, report)
}

type Input = Readonly<Record<string, unknown>>

/** Checks lists and objects as sent, so that an error in one entry does not hide errors in others. */
const checkParts = (input: Input, host: string | undefined, errors: ErrorCollector) => {
  const { headers, cookies, html, markdown } = input
  checkHeaders(headers, errors.report)
  checkHeaderOrigins(input['header_origins'], errors.report)
  checkCookies(cookies, errors.report)
  const hostIsKnown = host !== undefined || html !== undefined || markdown !== undefined
  if (hostIsKnown) checkCookieDomains(cookies, host, errors.report)
  checkSelectors(input, errors)
}

const checkAll = (parameters: Input, rules: CaptureRules, errors: ErrorCollector) => {
  const withinLimits = checkSize(parameters, errors.report)
  if (!withinLimits) return
  const withoutUnreadable = Object.fromEntries(Object.entries(withinLimits).filter(([name]) => !errors.hasError(name)))
  checkParameters(withoutUnreadable, errors.report)
  for (const [name, value] of Object.entries(withoutUnreadable)) {
    if (!errors.hasError(name)) checkWellFormed(name, value, errors.report)
  }
  const withoutErrors = Object.fromEntries(
    Object.entries(withoutUnreadable).filter(([name]) => !errors.hasErrorWithin(name)),
  ) as CaptureParameters
  checkSource(parameters, errors.report)
  checkCombinations(withoutErrors, errors.report)
  checkParts(withoutUnreadable, checkTargets(withoutErrors, rules, errors.report), errors)
}

/**
 * Validates the parameters of one capture: their schema, then their combination. Reports all errors at once, with those
 * already `found` when the input was read; a parameter with such an error is not validated again.
 */
export const parseCapture = (input: unknown, rules: CaptureRules, found: FieldErrors = {}): ParseCaptureResult => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { ok: false, errors: { body: ['must be a JSON object'] } }
  }
  const parameters = input as Input
  const collected = collectErrors(found)
  checkAll(parameters, rules, collected)
  const errors = collected.all()
  if (errors) return { ok: false, errors }
  const supplied = { ...parameters } as CaptureParameters
  const isServed = rules.hasStealth || !isRequested('stealth', supplied.stealth)
  return {
    ok: true,
    supplied,
    options: withDefaults(supplied),
    features: usedFeatures(supplied),
    unavailable: isServed ? undefined : { stealth: [noStealth] },
  }
}
