import type { EchoedOptions } from './echo-options.ts'
import { captureParameters } from './options.ts'
import type { ParameterDoc } from './parameters/kinds.ts'

type Ignored = { code: string; message: string }

const docs = new Map<string, ParameterDoc>(Object.entries(captureParameters.properties))

const withQuality: readonly unknown[] = ['jpeg', 'webp', 'avif']

/** Whether a supplied value requests anything: flags at `false` and empty objects do not. */
const isWanted = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined && value !== false

/** What the request has instead of that which the parameter applies to; undefined if it applies. */
const mismatch = (name: string, { format, source }: EchoedOptions): string | undefined => {
  const { appliesTo } = docs.get(name) ?? {}
  if (appliesTo === 'pdf' && format !== 'pdf') return String(format)
  if (appliesTo === 'image' && format === 'pdf') return 'pdf'
  return appliesTo === 'url' && typeof source === 'string' ? `a source of ${source}` : undefined
}

const inapplicable = (options: EchoedOptions): Ignored[] =>
  Object.entries(options).flatMap(([name, value]) => {
    const to = mismatch(name, options)
    return to === undefined || !isWanted(value)
      ? []
      : [{ code: 'parameter_ignored', message: `${name} does not apply to ${to}.` }]
  })

/** Returns warnings for supplied parameters that do not apply. Takes a record's `options`, whose other entries are supplied ones. */
export const ignoredOptions = (options: EchoedOptions): Ignored[] => {
  const { quality, format } = options
  const hasQuality = quality === undefined || withQuality.includes(format)
  return [
    ...(hasQuality ? [] : [{ code: 'quality_ignored', message: `quality does not apply to ${String(format)}.` }]),
    ...inapplicable(options),
  ]
}
