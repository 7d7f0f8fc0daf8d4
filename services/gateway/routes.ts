import { exportActivity, listActivity } from './operations/account/activity.ts'
import { accountOperations } from './operations/account/account.ts'
import { accountEvents } from './operations/account/events.ts'
import { targetOperations } from './operations/account/targets.ts'
import { createScreenshots } from './operations/batches/create.ts'
import { batchEvents } from './operations/batches/events.ts'
import { listOfBatches } from './operations/batches/list.ts'
import { showBatch } from './operations/batches/status.ts'
import { captureByBody, captureByQuery } from './operations/captures/capture.ts'
import { createScreenshot } from './operations/captures/create.ts'
import { deleteScreenshot } from './operations/captures/delete.ts'
import { captureEvents } from './operations/captures/events.ts'
import { downloadFile } from './operations/captures/file.ts'
import { describeImage, downloadImage } from './operations/captures/image.ts'
import { listScreenshots } from './operations/captures/list.ts'
import { signUrl } from './operations/captures/sign-url.ts'
import { showStatus } from './operations/captures/status.ts'
import { keyOperations } from './operations/keys/keys.ts'
import { linkOperations } from './operations/links/link-secrets.ts'
import { describeRender, renderByLink } from './operations/links/render.ts'
import { memberOperations } from './operations/members/members.ts'
import type { Operation } from './operations/operation.ts'
import { showDocs, showOpenapi } from './operations/reference/reference.ts'
import { uploadOperations } from './operations/uploads/destinations.ts'
import { webhookOperations } from './operations/webhooks/webhooks.ts'
import { captureDeliveryOperations, webhookDeliveryOperations } from './operations/webhooks/deliveries.ts'

/** All operations of the HTTP interface, in the order of the OpenAPI document. */
export const routes: readonly Operation[] = [
  captureByQuery,
  captureByBody,
  listScreenshots,
  createScreenshot,
  createScreenshots,
  listOfBatches,
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
  ...targetOperations,
  listActivity,
  exportActivity,
  accountEvents,
  ...keyOperations,
  ...linkOperations,
  renderByLink,
  describeRender,
  ...memberOperations,
  ...captureDeliveryOperations,
  showOpenapi,
  showDocs,
  ...webhookOperations,
  ...webhookDeliveryOperations,
  ...uploadOperations,
]

/** Prefixes under which every operation is served. */
export const prefixes = ['/v1', '/api/v1'] as const
