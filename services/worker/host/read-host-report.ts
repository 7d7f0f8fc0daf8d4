import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { warningsMax } from '#shared/capture/bound-warnings.ts'
import { bytesOfFiles, capturedFile, filesMax } from '#shared/capture/files.ts'
import { createValidator } from '#shared/capture/check-schema.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { boundMetadata, pageMetadata } from '#shared/capture/page-metadata.ts'
import { warning } from '#shared/capture/result-details.ts'
import { workerStages } from '#shared/capture/stages.ts'
import { blames, captureErrorCodes } from '#shared/errors/catalog.ts'
import { type HostReport, outcomeCharactersMax } from '#worker/protocol/protocol.ts'

const closed = { additionalProperties: false }
const count = (maximum: number) => Type.Integer({ minimum: 0, maximum })
const text = (maxLength: number, minLength = 1) => Type.String({ minLength, maxLength })
const id = text(64)

// Stricter than the schema of messages, which accepts unknown properties.
const stage = Type.Optional(count(86_400_000))
const timings = Type.Object(Object.fromEntries(workerStages.map((name) => [name, stage])), closed)

const shot = Type.Object(
  {
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    width: count(200_000),
    height: count(200_000),
    mimeType: Type.Enum(Object.values(mediaTypes)),
    targetStatus: Type.Optional(count(999)),
    finalUrl: Type.Optional(text(outcomeCharactersMax.finalUrl)),
    warnings: Type.Array(warning, { maxItems: warningsMax }),
    metadata: Type.Optional(pageMetadata),
    files: Type.Optional(Type.Array(capturedFile, { maxItems: filesMax })),
  },
  closed,
)

const detail = text(outcomeCharactersMax.detail, 0)

const ending = Type.Union([
  Type.Object({ outcome: Type.Literal('completed'), shot, timings }, closed),
  Type.Object(
    {
      outcome: Type.Literal('failed'),
      code: Type.Enum([...captureErrorCodes]),
      message: text(outcomeCharactersMax.message),
      blame: Type.Enum([...blames]),
      detail,
      timings,
    },
    closed,
  ),
  Type.Object(
    {
      outcome: Type.Literal('interrupted'),
      by: Type.Enum(['egress', 'overload', 'browser', 'worker']),
      isLoaded: Type.Boolean(),
      detail,
      timings,
    },
    closed,
  ),
])

const report = Type.Union([
  Type.Object({ kind: Type.Literal('verdict'), number: count(2 ** 53 - 1), isAllowed: Type.Boolean() }, closed),
  Type.Object({ kind: Type.Enum(['opened', 'loaded']), id }, closed),
  Type.Object({ kind: Type.Literal('ended'), id, outcome: ending }, closed),
])
const findProblem = createValidator(report)

/** Whether metadata is within the total size bound of a record, which the schema cannot express. */
const isBounded = (metadata: Parameters<typeof boundMetadata>[0] | undefined): boolean =>
  metadata === undefined || isDeepStrictEqual(boundMetadata(metadata), metadata)

/**
 * Parses a report of a browser host strictly: a page may have compromised the host, and the fields go into records, logs and
 * metric labels. Throws unless it matches the schema exactly and has bytes if, and only if, it has an image.
 */
export const readHostReport = (json: string, bytes: Uint8Array): HostReport => {
  const value = JSON.parse(json) as Static<typeof report>
  if (findProblem(value)) throw new TypeError('not a report')
  const outcome = value.kind === 'ended' ? value.outcome : undefined
  const isImage = outcome?.outcome === 'completed'
  if (isImage !== bytes.byteLength > 0) throw new TypeError('bytes without an image, or an image without bytes')
  if (value.kind !== 'ended') return value
  if (value.outcome.outcome !== 'completed') return { ...value, outcome: value.outcome }
  const { shot: described, ...rest } = value.outcome
  if (bytesOfFiles(described.files) >= bytes.byteLength) throw new TypeError('files larger than all bytes')
  if (!isBounded(described.metadata)) throw new TypeError('metadata beyond its bound')
  return { ...value, outcome: { ...rest, shot: { ...described, bytes } } }
}
