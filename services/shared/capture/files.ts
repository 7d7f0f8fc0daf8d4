import { type Static, Type } from 'typebox'
import { mediaTypes } from './options.ts'
import { imageFormats, outputNames, renditionsMax } from './parameters/kinds.ts'

const outputTypes = {
  html: 'text/html; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  links: 'application/json',
  accessibility: 'application/json',
  mhtml: 'message/rfc822',
  har: 'application/json',
  console: 'application/json',
} as const satisfies Record<OutputName, string>

/** Extension of each output's file. */
const extensions = {
  html: 'html',
  text: 'txt',
  markdown: 'md',
  links: 'json',
  accessibility: 'json',
  mhtml: 'mhtml',
  har: 'har',
  console: 'json',
} as const satisfies Record<OutputName, string>

/** Content of the page that a capture can return in addition to its image. */
export type OutputName = (typeof outputNames)[number]

/** Name of a capture's rendition by its place in the request, from 0. */
export const renditionName = (index: number): string => `rendition-${index + 1}`

const renditionNames: readonly string[] = Array.from({ length: renditionsMax }, (_, at) => renditionName(at))

/** Names of all files that a capture may have. */
export const fileNames: readonly string[] = [...outputNames, ...renditionNames]

/** Media types of all files, without their parameters. */
export const fileTypes: readonly string[] = [
  ...new Set([
    ...Object.values(outputTypes).map((type) => type.replace(/;.*/, '')),
    ...imageFormats.map((format) => mediaTypes[format]),
  ]),
]

/** Largest file of an output, in bytes. */
export const outputBytesMax = 5_000_000

/** Most outputs of a capture. */
export const outputsMax = outputNames.length

/** Most files of a capture. */
export const filesMax = outputsMax + renditionsMax

const size = Type.Integer({ minimum: 1, maximum: 200_000 })
const closed = { additionalProperties: false }
const stored = (bytesMax: number) => ({
  bytes: Type.Integer({ minimum: 1, maximum: bytesMax }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

const storedOutput = Type.Object({ name: Type.Enum([...outputNames]), ...stored(outputBytesMax) }, closed)
const storedRendition = Type.Object(
  {
    name: Type.Enum([...renditionNames]),
    format: Type.Enum([...imageFormats]),
    width: size,
    height: size,
    ...stored(2 ** 31),
  },
  closed,
)

/**
 * A file that a capture has stored behind its image, in the same object: an output, or a rendition with its size in pixels. Their
 * order is that of the request, outputs first.
 */
export const capturedFile = Type.Union([storedOutput, storedRendition])

/** See `capturedFile`. */
export type CapturedFile = Static<typeof capturedFile>

/** Whether a file is a rendition, not an output. */
export const isRendition = (file: CapturedFile): file is Static<typeof storedRendition> => 'format' in file

/** Media type of a file, and the extension of its name. */
export const kindOfFile = (file: CapturedFile): { readonly mimeType: string; readonly extension: string } =>
  isRendition(file)
    ? { mimeType: mediaTypes[file.format], extension: file.format }
    : { mimeType: outputTypes[file.name], extension: extensions[file.name] }

/** Bytes of all files together. */
export const bytesOfFiles = (files: readonly CapturedFile[] | null | undefined): number =>
  (files ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
