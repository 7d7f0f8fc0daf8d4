import type { CaptureParameters } from './capture-parameters.d.ts'

export type { CaptureParameters }

/** Parameters of a capture that is waited for: the client sets `response_type`, and a webhook would answer at once. */
export type WaitedParameters = Omit<CaptureParameters, 'response_type' | 'webhook_url'>

/** Parameters of a capture that is accepted and not waited for. */
export type CreateParameters = Omit<CaptureParameters, 'response_type'>

/** 1 to 100 addresses, and what holds for all of them. */
export type BatchParameters = Omit<CreateParameters, 'url' | 'html' | 'markdown'> & { urls: string[] }

export type Status = 'pending' | 'processing' | 'completed' | 'failed'

/** Why a capture failed. */
export type CaptureErrorCode =
  | 'TIMEOUT'
  | 'DNS_FAILED'
  | 'CONNECTION_FAILED'
  | 'BLOCKED'
  | 'INVALID_URL'
  | 'RENDER_ERROR'
  | 'JOB_FAILED'

export interface CaptureFailure {
  code: CaptureErrorCode
  message: string
}

export interface Warning {
  code: string
  message: string
}

/** What a page says of itself. What it does not say is absent; addresses are absolute. */
export interface PageMetadata {
  title?: string
  description?: string
  canonical?: string
  language?: string
  favicon?: string
  /** By the name of the tag without `og:`, such as `image:width`. */
  og?: Record<string, string>
  /** By the name of the tag without `twitter:`. */
  twitter?: Record<string, string>
}

/** The record of a capture. What its status has not reached is absent. Times are ISO 8601 UTC. */
export interface Screenshot {
  id: string
  status: Status
  /** Null where the source is not an address. */
  url: string | null
  options: Record<string, unknown>
  created_at: string
  batch_id?: string
  started_at?: string
  completed_at?: string
  expires_at?: string
  file_size?: number
  mime_type?: string
  width?: number
  height?: number
  processing_time_ms?: number
  /** Needs the API key; `signedUrl` makes one that does not. */
  image_url?: string
  cached?: boolean
  target_status?: number
  final_url?: string
  /** Where `extract_metadata` asked for it. */
  metadata?: PageMetadata
  warnings?: Warning[]
  /** Milliseconds by stage. */
  timings?: Record<string, number>
  error?: CaptureFailure
}

export interface BatchMember {
  /** Place of its address in `urls`, from 0. */
  index: number
  id: string
  status: Status
  url: string | null
  options: Record<string, unknown>
  created_at: string
}

export interface Batch {
  id: string
  /** `completed` says that all have ended; some may have failed. */
  status: 'pending' | 'processing' | 'completed'
  total: number
  pending: number
  processing: number
  completed: number
  failed: number
  created_at: string
  screenshots: BatchMember[]
}

export interface SignedUrl {
  url: string
  /** Null where the link holds for ever. */
  expires_at: string | null
  /** Minutes. */
  expires_in: number
}

/** Limits that the plan does not have are null; amounts are exact decimals. */
export interface Plan {
  name: string
  slug: string
  screenshots_per_month: number | null
  rate_limit_per_minute: number | null
  retention_hours: number
  features: string[]
  overage_price: string | null
  max_api_keys: number | null
  price_monthly: string | null
  price_yearly: string | null
  currency: string | null
}

export interface Account {
  id: string
  name: string
  email: string
  plan: Plan
  subscription: { status: string; current_period_end: string } | null
}

export interface Usage {
  screenshots_used: number
  screenshots_limit: number | null
  screenshots_remaining: number | null
  usage_percentage: number | null
  period_start: string
  period_end: string
  overage: number
  overage_cost: string
}

export type WebhookEventName =
  | 'screenshot.completed'
  | 'screenshot.failed'
  | 'batch.completed'
  | 'quota.warning'
  | 'webhook.test'

export interface Webhook {
  id: string
  url: string
  events: WebhookEventName[]
  description: string
  active: boolean
  created_at: string
  last_delivery_at: string | null
}

/** A webhook with its secret, which is shown this once. */
export interface WebhookWithSecret extends Webhook {
  secret: string
}

export interface WebhookFields {
  url: string
  events?: WebhookEventName[]
  description?: string
  active?: boolean
}

export interface DeliveryAttempt {
  number: number
  at: string
  status: number | null
  ms: number
  error: string | null
}

export interface Delivery {
  id: string
  event: string
  screenshot_id: string | null
  webhook_id: string | null
  url: string
  status: 'pending' | 'delivered' | 'failed'
  created_at: string
  sent_at: string | null
  next_attempt_at: string | null
  attempts: DeliveryAttempt[]
}

/** The body of a delivery. Receivers ignore events that they do not know. */
export interface WebhookEvent {
  event: string
  data: Record<string, unknown>
  sent_at: string
}

export interface Image {
  /** Id of its capture. */
  id: string
  bytes: Uint8Array<ArrayBuffer>
  contentType: string
  /** It is the result of an earlier capture. */
  cached: boolean
}

/** What becomes of a capture. More kinds may come. */
export type CaptureEvent =
  | { event: 'status'; data: { status: Status; position?: number } }
  | { event: 'started'; data: { started_at: string } }
  | { event: 'result'; data: Screenshot }
  | { event: 'deleted'; data: { id: string } }
  | { event: 'unauthorized'; data: { code: string; message: string } }

/** What becomes of a batch. More kinds may come. */
export type BatchEvent =
  | { event: 'status'; data: Omit<Batch, 'id' | 'created_at' | 'screenshots'> }
  | { event: 'screenshot'; data: Screenshot & { index: number } }
  | { event: 'result'; data: Batch }
  | { event: 'deleted'; data: { id: string } }
  | { event: 'unauthorized'; data: { code: string; message: string } }

export interface ClientOptions {
  /** Such as `https://shots.example.com`, without `/v1`. */
  baseUrl: string
  apiKey: string
  fetch?: typeof globalThis.fetch
  /** How often 429 and 503 are tried again. Default: 2. */
  retries?: number
  /** A `Retry-After` beyond it is not waited for. Default: 60. */
  retryWaitSeconds?: number
  /** Longest time of one request. Default: 180,000; a capture may take 150 s with all that it may wait for. */
  timeoutMs?: number
}

export interface CallOptions {
  signal?: AbortSignal
}

export interface KeyedOptions extends CallOptions {
  /** The same key and the same parameters are one capture within 24 hours. Default: a random one for each call. */
  idempotencyKey?: string
}

export interface WaitOptions extends CallOptions {
  /** How long an end is waited for. Default: 180,000. */
  waitMs?: number
}

export interface PageOptions extends CallOptions {
  /** 1 to 100. Default: 20. */
  perPage?: number
}

export interface ListFilter extends PageOptions {
  status?: Status
  /** First date or time of creation, ISO 8601. */
  from?: string
  /** Last date or time of creation, ISO 8601. */
  to?: string
}

/** The webhooks of the account. */
export interface Webhooks {
  list(options?: CallOptions): Promise<Webhook[]>
  create(fields: WebhookFields, options?: CallOptions): Promise<WebhookWithSecret>
  get(id: string, options?: CallOptions): Promise<Webhook>
  change(id: string, fields: Partial<WebhookFields>, options?: CallOptions): Promise<Webhook>
  delete(id: string, options?: CallOptions): Promise<void>
  /** Has a `webhook.test` sent; answers the delivery's id. */
  test(id: string, options?: CallOptions): Promise<{ id: string }>
  /** Makes a new secret; the old one is signed with for 24 hours more. */
  rotateSecret(id: string, options?: CallOptions): Promise<WebhookWithSecret>
  /** What was sent, newest first. */
  deliveries(id: string, options?: PageOptions): AsyncGenerator<Delivery, void>
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<{ id: string }>
}

/** A client of one account. Every method throws `ShutterfleetError` where the service refuses. */
export class Shutterfleet {
  constructor(options: ClientOptions)
  readonly webhooks: Webhooks
  /** Captures and answers the image. Throws with the capture's code where it fails. */
  capture(parameters: WaitedParameters, options?: KeyedOptions & WaitOptions): Promise<Image>
  /** Captures, waits for the end, and answers the record, of a failed capture too. */
  captureRecord(parameters: WaitedParameters, options?: KeyedOptions & WaitOptions): Promise<Screenshot>
  /** Has a capture made, and does not wait for it. */
  create(parameters: CreateParameters, options?: KeyedOptions): Promise<Screenshot>
  /** The record as it is, or, with `wait`, once it has ended or after that many seconds (60 at most). */
  status(id: string, options?: CallOptions & { wait?: number }): Promise<Screenshot>
  /** The record once the capture has completed or failed. Throws `NOT_READY` where it has not within `waitMs`. */
  waitFor(id: string, options?: WaitOptions): Promise<Screenshot>
  image(id: string, options?: CallOptions): Promise<Image>
  /** Type, size and tag of an image without its bytes. */
  describeImage(id: string, options?: CallOptions): Promise<{ contentType: string; bytes: number; etag: string }>
  /** All captures that fit, newest first; pages are read as they are wanted. */
  list(filter?: ListFilter): AsyncGenerator<Screenshot, void>
  batch(parameters: BatchParameters, options?: KeyedOptions): Promise<Batch>
  batchStatus(id: string, options?: CallOptions): Promise<Batch>
  delete(id: string, options?: CallOptions): Promise<void>
  /** A link to the image that needs no key. `expiresIn` in minutes, 0 for ever. Default: 60. */
  signedUrl(id: string, options?: CallOptions & { expiresIn?: number }): Promise<SignedUrl>
  account(options?: CallOptions): Promise<Account>
  usage(options?: CallOptions): Promise<Usage>
  /** What becomes of a capture, up to `result` or `deleted`; connects again where the connection ends. */
  events(id: string, options?: CallOptions): AsyncGenerator<CaptureEvent, void>
  batchEvents(id: string, options?: CallOptions): AsyncGenerator<BatchEvent, void>
  /** What was sent of a capture, to webhooks and to its own address, newest first. */
  deliveries(id: string, options?: PageOptions): AsyncGenerator<Delivery, void>
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<{ id: string }>
}

/** What the service answered in place of a result, or how a capture failed. */
export class ShutterfleetError extends Error {
  readonly name: 'ShutterfleetError'
  /** Stable: see the service's docs/errors.md. `UNEXPECTED_ANSWER` where something else than the service answered. */
  readonly code: string
  /** HTTP status; absent where a capture failed that was followed. */
  readonly status: number | undefined
  /** Faults by parameter, of `VALIDATION_ERROR`. */
  readonly details: Readonly<Record<string, readonly string[]>> | undefined
  readonly requestId: string | undefined
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined
  /** The capture that failed, or may have been accepted. */
  readonly screenshotId: string | undefined
}

/**
 * Checks that a delivery comes from the service and is at most five minutes old, and answers its event. `body` is the body
 * as it came in, before any parsing. Throws where it is not to be trusted.
 */
export function verifyWebhook(
  secret: string,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Uint8Array,
): Promise<WebhookEvent>
