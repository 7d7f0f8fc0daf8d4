import type { FieldErrors } from '#shared/errors/app-error.ts'
import { collectErrors, type ErrorCollector } from '#shared/capture/validation-errors.ts'
import { type Feature, featureNames } from '#shared/capture/features.ts'
import { type CaptureRules, type ParseCaptureResult, parseCapture, type ParsedCapture } from './parse-capture.ts'

/** Maximum URLs of one batch. */
export const urlsMax = 100
/** A valid batch: its captures in input order, 1 to 100, and the features that they use together. */
export type ParsedBatch = {
  readonly ok: true
  readonly captures: readonly [ParsedCapture, ...ParsedCapture[]]
  readonly features: readonly Feature[]
}

/** The result of validating a batch's parameters, with all errors at once. */
export type ParseBatchResult = ParsedBatch | { readonly ok: false; readonly errors: FieldErrors }

type Input = Readonly<Record<string, unknown>>

/** Placeholder if `urls` is invalid, so that the other parameters are still validated. */
const anyUrl = 'https://example.com/'

const urlsOf = (urls: unknown, { report }: ErrorCollector): readonly unknown[] => {
  const bounds = `1 to ${urlsMax} URLs`
  if (urls === undefined) report('urls', `is required: a list of ${bounds}`)
  else if (!Array.isArray(urls) || urls.length === 0 || urls.length > urlsMax)
    report('urls', `must be a list of ${bounds}`)
  else return urls
  return []
}

const checkCommon = ({ url, html, markdown, response_type: response }: Input, { report }: ErrorCollector) => {
  for (const [name, value] of Object.entries({ url, html, markdown })) {
    if (value !== undefined) report(name, 'must not be combined with urls')
  }
  if (response === 'image') report('response_type', 'must be json for a batch')
}

/** Reports errors of a URL under its index. Without an index, skips those that depend on the URL: its own and of cookie domains. */
const reportErrors = (errors: FieldErrors, index: number | undefined, { report }: ErrorCollector) => {
  for (const [field, problems] of Object.entries(errors)) {
    const isOfUrl = field === 'url'
    if (index === undefined && (isOfUrl || /^cookies\.\d+\.domain$/.test(field))) continue
    for (const problem of problems) report(isOfUrl ? `urls.${index}` : field, problem)
  }
}

/** Validates all parameters with the first URL; with the others only cookies, whose domains depend on the URL. */
const validateOne = (
  common: Input,
  url: unknown,
  { rules, first }: { readonly rules: CaptureRules; readonly first?: ParseCaptureResult },
): ParseCaptureResult => {
  if (!first) return parseCapture({ ...common, url }, rules)
  const { cookies } = common
  const result = parseCapture({ url, ...(cookies !== undefined && { cookies }) }, rules)
  if (!result.ok || !first.ok) return result
  const own = result.supplied.url === undefined ? {} : { url: result.supplied.url }
  return { ...first, supplied: { ...first.supplied, ...own }, options: { ...first.options, ...own } }
}

const validateAll = async (
  common: Input,
  urls: readonly unknown[],
  deps: { readonly rules: CaptureRules; readonly errors: ErrorCollector; readonly pause: () => Promise<unknown> },
): Promise<ParsedCapture[]> => {
  const { rules, errors, pause } = deps
  const captures: ParsedCapture[] = []
  let first: ParseCaptureResult | undefined
  for (const [index, url] of urls.entries()) {
    if (first) await pause()
    const result = validateOne(common, url, { rules, ...(first && { first }) })
    first ??= result
    if (result.ok) captures.push(result)
    else reportErrors(result.errors, index, errors)
  }
  return captures
}

/**
 * Validates the parameters of a batch: `urls`, and the parameters for each of them as `parseCapture` does. Reports all errors
 * at once, those of an entry as `urls.3`, with those already `found`. Awaits `pause` between URLs, so that a hundred do not
 * block the event loop.
 */
export const parseBatch = async (
  input: unknown,
  rules: CaptureRules,
  found: FieldErrors,
  pause: () => Promise<unknown>,
): Promise<ParseBatchResult> => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { ok: false, errors: { body: ['must be a JSON object'] } }
  }
  const errors = collectErrors(found)
  const { urls: suppliedUrls, url: _url, html: _html, markdown: _markdown, ...common } = input as Input
  checkCommon(input as Input, errors)
  const urls = urlsOf(suppliedUrls, errors)
  if (urls.length === 0) {
    const result = parseCapture({ ...common, url: anyUrl }, rules)
    if (!result.ok) reportErrors(result.errors, undefined, errors)
  }
  const [first, ...rest] = await validateAll(common, urls, { rules, errors, pause })
  const all = errors.all()
  if (all || !first) return { ok: false, errors: all ?? {} }
  const features = featureNames.filter((name) => name === 'batch' || first.features.includes(name))
  return { ok: true, captures: [first, ...rest], features }
}
