import { showAccount } from './account/account.ts'
import { showUsage } from './account/usage.ts'
import { createScreenshots } from './batches/create.ts'
import { batchEvents } from './batches/events.ts'
import { showBatch } from './batches/status.ts'
import { captureByBody, captureByQuery } from './captures/capture.ts'
import { createScreenshot } from './captures/create.ts'
import { deleteScreenshot } from './captures/delete.ts'
import { captureEvents } from './captures/events.ts'
import { describeImage, downloadImage } from './captures/image.ts'
import { listScreenshots } from './captures/list.ts'
import { signUrl } from './captures/sign-url.ts'
import { showStatus } from './captures/status.ts'
import type { Operation } from './operation.ts'
import { showDocs, showOpenapi } from './reference/reference.ts'
import { changeWebhook } from './webhooks/change.ts'
import { createWebhook } from './webhooks/create.ts'
import { deleteWebhook } from './webhooks/delete.ts'
import { listCaptureDeliveries, listWebhookDeliveries } from './webhooks/deliveries.ts'
import { listWebhooks } from './webhooks/list.ts'
import { redeliverOfCapture, redeliverOfWebhook } from './webhooks/redeliver.ts'
import { rotateWebhookSecret } from './webhooks/rotate-secret.ts'
import { showWebhook } from './webhooks/show.ts'
import { testWebhook } from './webhooks/test.ts'

/** Every operation of the interface, in the order of its document. */
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
  deleteScreenshot,
  signUrl,
  showAccount,
  showUsage,
  listCaptureDeliveries,
  redeliverOfCapture,
  showOpenapi,
  showDocs,
  listWebhooks,
  createWebhook,
  showWebhook,
  changeWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  listWebhookDeliveries,
  redeliverOfWebhook,
]
