import { Account } from './account.ts'
import { ApiKey } from './api-key.ts'
import { AuditEntry } from './audit-entry.ts'
import { Batch } from './batch.ts'
import { Capture } from './capture.ts'
import { CleanupCursor, LateCleanup, OrphanSweep } from './cleanup.ts'
import { Deletion } from './deletion.ts'
import { IdempotencyKey } from './idempotency-key.ts'
import { KeyPepper } from './key-pepper.ts'
import { Maintenance } from './maintenance.ts'
import { AccountMeter, CaptureCount, LaneMeter, Usage } from './meters.ts'
import { Outbox } from './outbox.ts'
import { Plan } from './plan.ts'
import { SqlFunction } from './sql-function.ts'
import { ObjectRemoval, StoredObject } from './stored-object.ts'
import { WebhookAttempt, WebhookDelivery } from './webhook-delivery.ts'
import { WebhookArrival, WebhookQueue } from './webhook-queue.ts'
import { Webhook, WebhookSecret } from './webhook.ts'

/** Every table as the mapper sees it; a test holds it against what the migrations make. */
export const entities = [
  Account,
  AccountMeter,
  ApiKey,
  AuditEntry,
  Batch,
  Capture,
  CaptureCount,
  CleanupCursor,
  Deletion,
  IdempotencyKey,
  KeyPepper,
  LaneMeter,
  LateCleanup,
  Maintenance,
  ObjectRemoval,
  OrphanSweep,
  Outbox,
  Plan,
  SqlFunction,
  StoredObject,
  Usage,
  Webhook,
  WebhookArrival,
  WebhookAttempt,
  WebhookDelivery,
  WebhookQueue,
  WebhookSecret,
] as const
