import type { CaptureParameters } from './capture-parameters.ts'

/** Parameters of a synchronous capture. The client sets `response_type`; `webhook_url` would make it asynchronous. */
export type WaitedParameters = Omit<CaptureParameters, 'response_type' | 'webhook_url'>

/** Parameters of an asynchronous capture. */
export type CreateParameters = Omit<CaptureParameters, 'response_type'>

/** 1 to 100 URLs, and the parameters of all their captures. */
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

/** Metadata from the head of a page. Fields that the page lacks are absent; URLs are absolute. */
export interface PageMetadata {
  title?: string
  description?: string
  canonical?: string
  language?: string
  favicon?: string
  /** Open Graph tags by name without `og:`, such as `image:width`. */
  og?: Record<string, string>
  /** Twitter card tags by name without `twitter:`. */
  twitter?: Record<string, string>
}

/** The record of a capture. Fields that its status has not reached are absent. Times are ISO 8601 UTC. */
export interface Screenshot {
  id: string
  status: Status
  /** Null if the source is `html` or `markdown`. */
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
  /** Requires the API key; `signedUrl` creates a URL that does not. */
  image_url?: string
  cached?: boolean
  target_status?: number
  final_url?: string
  /** Present if `extract_metadata` was set. */
  metadata?: PageMetadata
  warnings?: Warning[]
  /** Milliseconds by stage. */
  timings?: Record<string, number>
  error?: CaptureFailure
}

export interface BatchMember {
  /** Index of its URL in `urls`, from 0. */
  index: number
  id: string
  status: Status
  url: string | null
  options: Record<string, unknown>
  created_at: string
}

export interface Batch {
  id: string
  /** `completed` once every capture has completed or failed. */
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
  /** Null if the link does not expire. */
  expires_at: string | null
  /** Minutes. */
  expires_in: number
}

/** Limits are null if unlimited; amounts are exact decimals. */
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

/** A new webhook, or one with a new secret. The secret is returned only once. */
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

/** The body of a delivery. Receivers should ignore unknown events. */
export interface WebhookEvent {
  event: string
  data: Record<string, unknown>
  sent_at: string
}

export interface Image {
  /** Id of the capture. */
  id: string
  bytes: Uint8Array<ArrayBuffer>
  contentType: string
  /** Whether the image was served from an earlier capture. */
  cached: boolean
}

/** An event of a capture. Later versions may add events. */
export type CaptureEvent =
  | { event: 'status'; data: { status: Status; position?: number } }
  | { event: 'started'; data: { started_at: string } }
  | { event: 'result'; data: Screenshot }
  | { event: 'deleted'; data: { id: string } }
  | { event: 'unauthorized'; data: { code: string; message: string } }

/** An event of a batch. Later versions may add events. */
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
  /** Retries after 429 and 503. Default: 2. */
  retries?: number
  /** Longest `Retry-After` that is waited for. Default: 60. */
  retryWaitSeconds?: number
  /** Time limit of one request. Default: 180,000; a synchronous capture takes at most 150 s, queue wait included. */
  timeoutMs?: number
}

export interface CallOptions {
  signal?: AbortSignal
}

export interface KeyedOptions extends CallOptions {
  /** Requests with the same key and parameters within 24 hours create one capture. Default: random. */
  idempotencyKey?: string
}

export interface WaitOptions extends CallOptions {
  /** Longest wait for the capture to end. Default: 180,000. */
  waitMs?: number
}

export interface PageOptions extends CallOptions {
  /** 1 to 100. Default: 20. */
  perPage?: number
}

export interface ListFilter extends PageOptions {
  status?: Status
  /** Earliest date or time of creation, ISO 8601. */
  from?: string
  /** Latest date or time of creation, ISO 8601. */
  to?: string
}
