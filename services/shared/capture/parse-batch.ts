import type { FieldFaults } from '#shared/errors/app-error.ts'
import { collectFaults, type Faults } from './faults.ts'
import { type Feature, featureNames } from './features.ts'
import { type CaptureRules, parseCapture, type ParsedCapture } from './parse-capture.ts'

/** Most URLs of one batch. */
const urlsMax = 100
/** URLs that are judged without a pause. */
const urlsAtOnce = 5

/** A batch within all bounds: its captures in input order, 1 to 100, and the features that they use together. */
export type ParsedBatch = {
  readonly ok: true
  readonly captures: readonly [ParsedCapture, ...ParsedCapture[]]
  readonly features: readonly Feature[]
}

/** The verdict on a batch's parameters, with all faults at once. */
export type BatchVerdict = ParsedBatch | { readonly ok: false; readonly faults: FieldFaults }

type Input = Readonly<Record<string, unknown>>

/** Stands in where no URL can be judged, so that the other parameters are. */
const anyUrl = 'https://example.com/'

const urlsOf = (urls: unknown, { report }: Faults): readonly unknown[] => {
  const bounds = `1 to ${urlsMax} URLs`
  if (urls === undefined) report('urls', `is required: a list of ${bounds}`)
  else if (!Array.isArray(urls) || urls.length === 0 || urls.length > urlsMax)
    report('urls', `must be a list of ${bounds}`)
  else return urls
  return []
}

const checkCommon = ({ url, html, markdown, response_type: response }: Input, { report }: Faults) => {
  for (const [name, value] of Object.entries({ url, html, markdown })) {
    if (value !== undefined) report(name, 'must not be given beside urls')
  }
  if (response === 'image') report('response_type', 'must be json for a batch')
}

/** What is wrong with one URL is told under its place; a cookie that fits no known host is told only where the host is known. */
const reportFaults = (faults: FieldFaults, place: number | undefined, { report }: Faults) => {
  for (const [field, problems] of Object.entries(faults)) {
    const isOfUrl = field === 'url'
    if (place === undefined && (isOfUrl || /^cookies\.\d+\.domain$/.test(field))) continue
    for (const problem of problems) report(isOfUrl ? `urls.${place}` : field, problem)
  }
}

/**
 * Judges the parameters of a batch: `urls`, and what applies to each of them, as `parseCapture` does. Reports all faults at
 * once, those of an entry as `urls.3`, with those that were `found` before. Awaits `pause` every few URLs, so that a
 * hundred do not keep everything else waiting.
 */
export const parseBatch = async (
  input: unknown,
  rules: CaptureRules,
  found: FieldFaults,
  pause: () => Promise<unknown>,
): Promise<BatchVerdict> => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { ok: false, faults: { body: ['must be a JSON object'] } }
  }
  const faults = collectFaults(found)
  const { urls: given, url: _url, html: _html, markdown: _markdown, ...common } = input as Input
  checkCommon(input as Input, faults)
  const urls = urlsOf(given, faults)
  const captures: ParsedCapture[] = []
  if (urls.length === 0) {
    const verdict = parseCapture({ ...common, url: anyUrl }, rules)
    if (!verdict.ok) reportFaults(verdict.faults, undefined, faults)
  }
  for (const [place, url] of urls.entries()) {
    if (place % urlsAtOnce === urlsAtOnce - 1) await pause()
    const verdict = parseCapture({ ...common, url }, rules)
    if (verdict.ok) captures.push(verdict)
    else reportFaults(verdict.faults, place, faults)
  }
  const all = faults.all()
  const [first, ...rest] = captures
  if (all || !first) return { ok: false, faults: all ?? {} }
  const features = featureNames.filter((name) => name === 'batch' || first.features.includes(name))
  return { ok: true, captures: [first, ...rest], features }
}
