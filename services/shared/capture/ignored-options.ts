import type { EchoedOptions } from './echo-options.ts'

const withQuality: readonly unknown[] = ['jpeg', 'webp', 'avif']

/** Warnings for what a caller supplied and the format has no use for. Takes a record's `options`: what stands there was supplied. */
export const ignoredOptions = ({ quality, format }: EchoedOptions): { code: string; message: string }[] =>
  quality === undefined || withQuality.includes(format)
    ? []
    : [{ code: 'quality_ignored', message: `quality does not apply to ${String(format)}.` }]
