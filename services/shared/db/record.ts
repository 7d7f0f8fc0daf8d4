import { echoCompleted } from '#shared/capture/echo-options.ts'
import { type CapturedFile, isRendition, kindOfFile } from '#shared/capture/files.ts'
import { ignoredOptions } from '#shared/capture/ignored-options.ts'
import { renderCaptureKey } from '#shared/capture/parameters/upload-key.ts'
import { maskUrl } from '#shared/capture/mask-url.ts'
import type { PageMetadata } from '#shared/capture/page-metadata.ts'
import type { FoundCapture } from './find-capture.ts'

/** The fields of a record that its webhooks carry, in the contract's order. */
export const webhookFields = {
  completed: [
    'id',
    'status',
    'url',
    'options',
    'file_size',
    'mime_type',
    'width',
    'height',
    'processing_time_ms',
    'image_url',
    'created_at',
    'completed_at',
  ],
  failed: ['id', 'status', 'url', 'error', 'created_at'],
} as const

/** The part of the record of a capture that has ended that its webhooks carry: its fields of the contract; `metadata` if requested, `cached` only for a cache hit. */
export const toWebhookRecord = (record: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const names = webhookFields[record['status'] === 'completed' ? 'completed' : 'failed']
  return {
    ...Object.fromEntries(names.flatMap((name) => (name in record ? [[name, record[name]]] : []))),
    ...('metadata' in record && { metadata: record['metadata'] }),
    ...(record['cached'] === true && { cached: true }),
  }
}

/** Addresses of a capture, built from the public address and nothing else. */
export const captureUrls = (publicUrl: string, id: string): { status: string; image: string } => ({
  status: `${publicUrl}/v1/screenshots/${id}`,
  image: `${publicUrl}/v1/screenshots/${id}/image`,
})

/** Address of a batch. */
export const batchUrl = (publicUrl: string, id: string): string => `${publicUrl}/v1/screenshots/batch/${id}`

const present = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

/** The contract's screenshot record. Fields that the status has not reached are absent; only `url` may be null. */
export const toRecord = (capture: FoundCapture, publicUrl: string): Record<string, unknown> => {
  const { id, status, url, options } = capture
  const completed = status === 'completed'
  return {
    id,
    status,
    url,
    options: completed ? echoCompleted(options) : options,
    created_at: capture.createdAt,
    ...present({
      batch_id: capture.batchId,
      started_at: capture.startedAt,
      completed_at: capture.completedAt,
      expires_at: capture.expiresAt,
      timings: capture.timings,
      error: capture.error,
      upload: status === 'failed' ? null : uploadFields(capture),
    }),
    ...(completed && present(imageFields(capture, publicUrl))),
  }
}

/** States of an upload in records. */
const uploadStatus = { pending: 'pending', delivered: 'succeeded', failed: 'failed' } as const

/** The upload of a capture; null if none was requested. */
const uploadFields = (capture: FoundCapture) => {
  const { upload, status, options } = capture
  if (options['upload_to'] === undefined) return null
  if (upload === null) {
    const isLost = status === 'completed'
    const error = isLost ? 'destination_deleted' : null
    return { status: isLost ? 'failed' : 'pending', bucket: null, key: null, attempts: 0, http_status: null, error }
  }
  const { state, bucket, prefix, attempts, httpStatus, error } = upload
  const key = renderCaptureKey(prefix, capture)
  return { status: uploadStatus[state], bucket, key, attempts, http_status: httpStatus, error }
}

/** In the contract's order, which the database does not keep. */
const metadataFields = ({ title, description, canonical, language, favicon, og, twitter }: PageMetadata) =>
  present({ title, description, canonical, language, favicon, og, twitter })

/** Address of a file of a capture. */
const fileUrl = (publicUrl: string, id: string, name: string): string =>
  `${captureUrls(publicUrl, id).status}/files/${name}`

const outputFields = ({ id, files }: FoundCapture, publicUrl: string) => {
  const toFields = (file: CapturedFile) => ({
    ...(!isRendition(file) && { name: file.name }),
    url: fileUrl(publicUrl, id, file.name),
    mime_type: kindOfFile(file).mimeType,
    file_size: file.bytes,
    ...(isRendition(file) && { width: file.width, height: file.height }),
  })
  const toList = (listed: readonly CapturedFile[]) => (listed.length > 0 ? listed.map(toFields) : null)
  return {
    outputs: toList((files ?? []).filter((file) => !isRendition(file))),
    renditions: toList((files ?? []).filter(isRendition)),
  }
}

const imageFields = (capture: FoundCapture, publicUrl: string) => ({
  file_size: capture.fileSize,
  mime_type: capture.mimeType,
  width: capture.width,
  height: capture.height,
  processing_time_ms: capture.processingTimeMs,
  image_url: captureUrls(publicUrl, capture.id).image,
  cached: capture.cached,
  target_status: capture.targetStatus,
  final_url: capture.finalUrl ? maskUrl(capture.finalUrl) : null,
  metadata: capture.metadata && metadataFields(capture.metadata),
  ...outputFields(capture, publicUrl),
  warnings: [...ignoredOptions(capture.options), ...(capture.warnings ?? [])],
})
