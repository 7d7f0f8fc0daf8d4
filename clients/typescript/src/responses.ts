// Generated from docs/openapi.json by `make docs`.
import type { ScreenshotOptions, CompletedScreenshotOptions } from './requests.ts'

/** A screenshot. A field that its state has not reached is absent, not null. */
export interface Screenshot {
  /** Id of the screenshot. */
  id: string
  /** Source address, its password masked; null where the source is HTML or Markdown. */
  url: string | null
  options: ScreenshotOptions | CompletedScreenshotOptions
  /** When it was accepted. */
  created_at: string
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** The batch that it belongs to. */
  batch_id?: string
  /** When its latest attempt began. */
  started_at?: string
  /** Milliseconds of each stage of the attempt. `queue` is the wait from the request to a worker, `commit` that from the result to the record; `total` is what the worker took, from `open` to `store`. */
  timings?: { queue?: number; claim?: number; open?: number; navigate?: number; prepare?: number; settle?: number; shoot?: number; encode?: number; inspect?: number; store?: number; total?: number; commit?: number }
  /** When it ended. */
  completed_at?: string
  /** Bytes of the image. */
  file_size?: number
  /** Media type of the image. */
  mime_type?: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/avif' | 'image/tiff' | 'application/pdf'
  /** Pixels. */
  width?: number
  /** Pixels; of a full-page capture more than the viewport has. */
  height?: number
  /** Milliseconds that the capture took. */
  processing_time_ms?: number
  /** Where the image is. It needs the API key; a signed URL does not. */
  image_url?: string
  /** Whether it shows an earlier capture's result, and was free. */
  cached?: boolean
  /** What the result is not as it was asked for. More codes may come. */
  warnings?: Warning[]
  metadata?: PageMetadata
  /** When the retention of the image ends. Afterwards it answers 410; the record stays. */
  expires_at?: string
  /** HTTP status of the page. A page's 404 is a capture like any other. */
  target_status?: number
  /** Address of the page after all redirects, its password masked. */
  final_url?: string
  error?: CaptureError
}

export interface Warning {
  /** For machines: `truncated`, `quality_ignored`, `parameter_ignored`, `selector_not_found`, `blank`, `undecoded_images` and others. */
  code: string
  /** For people. */
  message: string
}

/** What the page says of itself, where `extract_metadata` asked for it. What it does not say is absent; addresses are absolute, http or https. */
export interface PageMetadata {
  /** Title of the page, at most 500 characters. */
  title?: string
  /** Its description, at most 1,000 characters. */
  description?: string
  /** Its canonical address. */
  canonical?: string
  /** The `lang` of its root element. */
  language?: string
  /** Its icon, where it names one. */
  favicon?: string
  /** Tags whose name begins with `og:`, without that, such as `image` and `image:width`; of a repeated one the first. */
  og?: Record<string, string>
  /** Tags whose name begins with `twitter:`, without that, such as `card`; of a repeated one the first. */
  twitter?: Record<string, string>
}

export interface CaptureError {
  /** Why the capture failed. */
  code: 'TIMEOUT' | 'DNS_FAILED' | 'CONNECTION_FAILED' | 'BLOCKED' | 'INVALID_URL' | 'RENDER_ERROR' | 'JOB_FAILED'
  /** For people. */
  message: string
}

/** A screenshot that has ended. */
export interface EndedScreenshot {
  /** Id of the screenshot. */
  id: string
  /** Source address, its password masked; null where the source is HTML or Markdown. */
  url: string | null
  options: CompletedScreenshotOptions | ScreenshotOptions
  /** When it was accepted. */
  created_at: string
  status: 'completed' | 'failed'
  /** When it ended. */
  completed_at?: string
  /** Bytes of the image. */
  file_size?: number
  /** Media type of the image. */
  mime_type?: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/avif' | 'image/tiff' | 'application/pdf'
  /** Pixels. */
  width?: number
  /** Pixels; of a full-page capture more than the viewport has. */
  height?: number
  /** Milliseconds that the capture took. */
  processing_time_ms?: number
  /** Where the image is. It needs the API key; a signed URL does not. */
  image_url?: string
  /** Whether it shows an earlier capture's result, and was free. */
  cached?: boolean
  /** What the result is not as it was asked for. More codes may come. */
  warnings?: Warning[]
  /** The batch that it belongs to. */
  batch_id?: string
  /** When its latest attempt began. */
  started_at?: string
  /** Milliseconds of each stage of the attempt. `queue` is the wait from the request to a worker, `commit` that from the result to the record; `total` is what the worker took, from `open` to `store`. */
  timings?: { queue?: number; claim?: number; open?: number; navigate?: number; prepare?: number; settle?: number; shoot?: number; encode?: number; inspect?: number; store?: number; total?: number; commit?: number }
  metadata?: PageMetadata
  /** When the retention of the image ends. Afterwards it answers 410; the record stays. */
  expires_at?: string
  /** HTTP status of the page. A page's 404 is a capture like any other. */
  target_status?: number
  /** Address of the page after all redirects, its password masked. */
  final_url?: string
  error?: CaptureError
}

export interface AcceptedScreenshot {
  /** Id of the screenshot. */
  id: string
  /** Source address, its password masked; null where the source is HTML or Markdown. */
  url: string | null
  options: ScreenshotOptions
  /** When it was accepted. */
  created_at: string
  /** `pending`; where the request repeats an earlier one, the state of its screenshot now. */
  status: 'pending' | 'processing' | 'completed' | 'failed'
}

export interface Batch {
  /** Id of the batch. */
  id: string
  /** `pending`: none has begun. `completed`: all have ended, some may have failed. */
  status: 'pending' | 'processing' | 'completed'
  /** Screenshots of the batch, deleted ones included. */
  total: number
  /** How many wait. */
  pending: number
  /** How many run. */
  processing: number
  /** How many completed. */
  completed: number
  /** How many failed. */
  failed: number
  /** When it was accepted. */
  created_at: string
  /** Those that were not deleted, in the order of the request. */
  screenshots: BatchMember[]
}

export interface BatchMember {
  /** Place of its URL in the request, from 0. */
  index: number
  /** Id of the screenshot. */
  id: string
  /** State of the screenshot. */
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** Source address, its password masked. */
  url: string | null
  options: ScreenshotOptions | CompletedScreenshotOptions
  /** When it was accepted. */
  created_at: string
}

export interface SignedUrl {
  /** The image, for whoever has this link. */
  url: string
  /** When the link ends; null for a permanent one. */
  expires_at: string | null
  /** Minutes; 0 for a permanent link. */
  expires_in: number
}

export interface Account {
  /** Id of the account. */
  id: string
  /** Name of the account. */
  name: string
  /** Address of its owner. */
  email: string
  plan: Plan
  /** Null where there is none. */
  subscription: { status: string; current_period_end: string } | null
}

export interface Plan {
  /** For people. */
  name: string
  /** For machines. */
  slug: string
  /** Monthly quota; null without a limit. */
  screenshots_per_month: number | null
  /** Requests per minute; null without a limit. */
  rate_limit_per_minute: number | null
  /** How long images are kept. */
  retention_hours: number
  /** What the plan includes beyond the basics. */
  features: ('device_presets' | 'retina' | 'block_ads' | 'block_chats' | 'pdf' | 'html' | 'webhooks' | 'headers' | 'cookies' | 'batch' | 'dark_mode' | 'css' | 'js' | 'signed_urls' | 'stealth' | 'timezone' | 'extract_metadata' | 'markdown' | 'geolocation' | 'proxy')[]
  /** Price of a screenshot beyond the quota; null where the quota is a limit. */
  overage_price: string | null
  /** API keys that the account may have; null without a limit. */
  max_api_keys: number | null
  /** Price of a month. */
  price_monthly: string | null
  /** Price of a year, which is that of ten months. */
  price_yearly: string | null
  /** Currency of the prices. */
  currency: string | null
}

export interface Usage {
  /** Charged in this period; those that have not ended included. */
  screenshots_used: number
  /** Monthly quota; null without a limit. */
  screenshots_limit: number | null
  /** Left of the quota; null without a limit. */
  screenshots_remaining: number | null
  /** Two decimals, rounded down; above 100 with overage; null without a limit. */
  usage_percentage: number | null
  /** Beginning of the period. */
  period_start: string
  /** End of the period, when the count begins anew. */
  period_end: string
  /** Screenshots beyond the quota. */
  overage: number
  /** What they cost. */
  overage_cost: string
}

export interface Webhook {
  /** Id of the webhook. */
  id: string
  /** Where events are sent. */
  url: string
  /** What is sent. */
  events: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** A note of the account. */
  description: string
  /** Whether anything is sent. */
  active: boolean
  /** When it was made. */
  created_at: string
  /** When the latest attempt ended; null before the first. */
  last_delivery_at: string | null
}

export interface WebhookWithSecret {
  /** Id of the webhook. */
  id: string
  /** Where events are sent. */
  url: string
  /** What is sent. */
  events: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** A note of the account. */
  description: string
  /** Whether anything is sent. */
  active: boolean
  /** When it was made. */
  created_at: string
  /** When the latest attempt ended; null before the first. */
  last_delivery_at: string | null
  /** Signs what is sent. Shown in this answer only. */
  secret: string
}

export interface Delivery {
  /** Id of the delivery, sent as `webhook-id`; the same over all attempts. */
  id: string
  /** What it tells. */
  event: 'screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test'
  /** The screenshot that it is about, if there is one. */
  screenshot_id: string | null
  /** Null for the address in a request's `webhook_url`. */
  webhook_id: string | null
  /** Where it is sent, secrets masked. */
  url: string
  /** `failed`: all attempts are used up. */
  status: 'pending' | 'delivered' | 'failed'
  /** When it was queued. */
  created_at: string
  /** When the first attempt began. */
  sent_at: string | null
  /** When the next attempt is due; null where none is. */
  next_attempt_at: string | null
  /** The latest 100, in order. */
  attempts: DeliveryAttempt[]
}

export interface DeliveryAttempt {
  /** From 1. */
  number: number
  /** When it began. */
  at: string
  /** HTTP status of the answer; null where there was none. */
  status: number | null
  /** Milliseconds that it took. */
  ms: number
  /** Why it failed; null where the receiver took it. */
  error: 'status' | 'redirect' | 'blocked' | 'dns_failed' | 'connection_failed' | 'tls_failed' | 'timeout' | 'bad_answer' | 'expired' | null
}

export interface QueuedDelivery {
  /** Id of the delivery that was queued. */
  id: string
}
