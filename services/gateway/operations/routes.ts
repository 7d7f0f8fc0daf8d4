import { accountOperations } from './account/account.ts'
import { createScreenshots } from './batches/create.ts'
import { batchEvents } from './batches/events.ts'
import { showBatch } from './batches/status.ts'
import { captureByBody, captureByQuery } from './captures/capture.ts'
import { createScreenshot } from './captures/create.ts'
import { deleteScreenshot } from './captures/delete.ts'
import { captureEvents } from './captures/events.ts'
import { downloadFile } from './captures/file.ts'
import { describeImage, downloadImage } from './captures/image.ts'
import { listScreenshots } from './captures/list.ts'
import { signUrl } from './captures/sign-url.ts'
import { showStatus } from './captures/status.ts'
import type { Operation } from './operation.ts'
import { showDocs, showOpenapi } from './reference/reference.ts'
import { webhookOperations } from './webhooks/webhooks.ts'
import { captureDeliveryOperations, webhookDeliveryOperations } from './webhooks/deliveries.ts'

/** All operations of the HTTP interface, in the order of the OpenAPI document. */
export const routes: readonly Operation[] = [
  captureByQuery,
  captureByBody,
  listScreenshots,
  createScreenshot,
  createScreenshots,
  showBatch,
  showStatus,
  captureEvents,
  batchEvents,
  downloadImage,
  describeImage,
  downloadFile,
  deleteScreenshot,
  signUrl,
  ...accountOperations,
  ...captureDeliveryOperations,
  showOpenapi,
  showDocs,
  ...webhookOperations,
  ...webhookDeliveryOperations,
]

/** Prefixes under which every operation is served. */
export const prefixes = ['/v1', '/api/v1'] as const
