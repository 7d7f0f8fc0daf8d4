import { type Static, Type } from 'typebox'
import { mediaTypes } from './options.ts'
import { outputNames, renditionFormats, renditionsMax } from './parameters/kinds.ts'

const outputTypes = {
  html: 'text/html; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  links: 'application/json',
  accessibility: 'application/json',
  mhtml: 'multipart/related',
} as const satisfies Record<OutputName, string>

/** Extension of each output's file. */
const extensions = { html: 'html', text: 'txt', markdown: 'md', links: 'json', accessibility: 'json', mhtml: 'mhtml' }

/** Content of the page that a capture can bring besides its image. */
export type OutputName = (typeof outputNames)[number]

/** Name of a capture's rendition by its place in the request, from 0. */
export const renditionName = (at: number): string => `rendition-${at + 1}`

const renditionNames: readonly string[] = Array.from({ length: renditionsMax }, (_, at) => renditionName(at))

/** Names of all files that a capture may have. */
export const fileNames: readonly string[] = [...outputNames, ...renditionNames]

/** Media types of all files, without their parameters. */
export const fileTypes: readonly string[] = [
  ...new Set([
    ...Object.values(outputTypes).map((type) => type.replace(/;.*/, '')),
    ...renditionFormats.map((format) => mediaTypes[format]),
  ]),
]

/** Largest file of an output, in bytes. */
export const outputBytesMax = 5_000_000

/** Most outputs of a capture. */
export const outputsMax = outputNames.length

/** Most files of a capture. */
export const filesMax = outputsMax + renditionsMax

const size = Type.Integer({ minimum: 1, maximum: 200_000 })

/**
 * A file that a capture has stored behind its image, in the same object: an output, or a rendition, which has a format and a size
 * in pixels. Their order is that of the request, outputs first.
 */
export const capturedFile = Type.Object(
  {
    name: Type.Enum([...fileNames]),
    bytes: Type.Integer({ minimum: 1, maximum: 2 ** 31 }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    format: Type.Optional(Type.Enum([...renditionFormats])),
    width: Type.Optional(size),
    height: Type.Optional(size),
  },
  { additionalProperties: false },
)

/** See `capturedFile`. */
export type CapturedFile = Static<typeof capturedFile>

/** Media type of a file, and the extension of its name. */
export const kindOfFile = ({ name, format }: CapturedFile): { readonly mimeType: string; readonly extension: string } =>
  format === undefined
    ? { mimeType: outputTypes[name as OutputName], extension: extensions[name as OutputName] }
    : { mimeType: mediaTypes[format], extension: format }

/** Whether a file is a rendition, not an output. */
export const isRendition = ({ format }: CapturedFile): boolean => format !== undefined

/** Bytes of all files together. */
export const bytesOfFiles = (files: readonly CapturedFile[] | null | undefined): number =>
  (files ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
