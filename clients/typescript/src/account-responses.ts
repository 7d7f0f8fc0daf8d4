// Generated from docs/openapi.json by `make docs`.

export interface Account {
  /** Id of the account. */
  id: string
  /** Name of the account. */
  name: string
  /** Email address of the owner. */
  email: string
  plan: Plan
  /** Subscription of the account; null if there is none. */
  subscription: { status: string; current_period_end: string } | null
}

export interface Plan {
  /** Human-readable name. */
  name: string
  /** Machine-readable name. */
  slug: string
  /** Monthly quota of screenshots; null if unlimited. */
  screenshots_per_month: number | null
  /** Requests per minute; null if unlimited. */
  rate_limit_per_minute: number | null
  /** Retention of images in hours. */
  retention_hours: number
  /** Features of the plan beyond the basic ones. */
  features: ('device_presets' | 'retina' | 'block_ads' | 'block_chats' | 'pdf' | 'html' | 'webhooks' | 'headers' | 'cookies' | 'batch' | 'dark_mode' | 'css' | 'js' | 'signed_urls' | 'stealth' | 'timezone' | 'extract_metadata' | 'markdown' | 'geolocation' | 'proxy')[]
  /** Price per screenshot beyond the quota; null if the quota cannot be exceeded. */
  overage_price: string | null
  /** Maximum number of API keys of the account; null if unlimited. */
  max_api_keys: number | null
  /** Price per month. */
  price_monthly: string | null
  /** Price per year, equal to that of ten months. */
  price_yearly: string | null
  /** Currency of the prices. */
  currency: string | null
}

export interface Usage {
  /** Screenshots charged in this period, including those that have not ended. */
  screenshots_used: number
  /** Monthly quota of screenshots; null if unlimited. */
  screenshots_limit: number | null
  /** Screenshots left in the quota; null if unlimited. */
  screenshots_remaining: number | null
  /** Percentage of the quota used, with two decimals, rounded down; above 100 with overage; null if unlimited. */
  usage_percentage: number | null
  /** Start of the period. */
  period_start: string
  /** End of the period, when the count is reset. */
  period_end: string
  /** Number of screenshots beyond the quota. */
  overage: number
  /** Cost of the screenshots beyond the quota. */
  overage_cost: string
  /** Usage by day, oldest first; only if requested by `from` or `to`. */
  days?: UsageDay[]
}

export interface UsageDay {
  /** Day of acceptance, in UTC. */
  day: string
  /** Screenshots charged: completed ones that were not cached, and those deleted while they ran. */
  charged: number
  /** Completed screenshots. */
  completed: number
  /** Those of them that share the result of another, free of charge. */
  cached: number
  /** Failed screenshots, which are free of charge. */
  failed: number
  /** Failed screenshots by reason. */
  failures: { code: 'TIMEOUT' | 'DNS_FAILED' | 'CONNECTION_FAILED' | 'BLOCKED' | 'INVALID_URL' | 'RENDER_ERROR' | 'JOB_FAILED'; count: number }[]
}

export interface TargetLists {
  /** The only targets that captures may reach; empty: all that are not refused otherwise. Each entry is a host (example.com), *. and a host for all names below it, an IP address or a CIDR, each with an optional :port ([2001:db8::1]:443). */
  allow: string[]
  /** Targets that captures may not reach; they win over `allow`. Entries as in `allow`. */
  deny: string[]
}

export interface ApiKey {
  /** Id of the key. */
  id: string
  /** Name of the key. */
  name: string
  /** First characters of the key, to recognize it. */
  prefix: string
  /** Hosts from whose pages the key may be used; empty: from anywhere. */
  domains: string[]
  /** What the key may do. */
  scopes: ('capture' | 'read' | 'manage')[]
  /** Time at which the key expires; null: never. */
  expires_at: string | null
  /** Time of creation. */
  created_at: string
  /** Time of the latest request with the key, to the minute; null before the first. */
  last_used_at: string | null
}

export interface ApiKeyWithSecret extends ApiKey {
  /** The key. Returned only in this response. */
  key: string
}

export interface Member {
  /** Id of the member. */
  id: string
  /** Email address, in lower case. */
  email: string
  /** `owner`: also manages members; `member`: does everything else; `viewer`: only reads. */
  role: 'owner' | 'member' | 'viewer'
  /** Identifier of the person at the OpenID Connect provider (`sub`); null before the first sign-in with it. */
  subject: string | null
  /** Time at which the member was added. */
  created_at: string
  /** Time of the latest sign-in, for a member who has signed in with the provider of the latest one with it; null before. */
  last_sign_in_at: string | null
}

export interface SignInLink {
  /** The link, which works once. Returned only in this response. */
  url: string
  /** Time at which the link expires. */
  expires_at: string
}

export interface Webhook {
  /** Id of the webhook. */
  id: string
  /** URL that events are sent to, with its password and its query masked as `***`. */
  url: string
  /** Events that are sent to the webhook. */
  events: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** Free-text description. */
  description: string
  /** Whether events are sent to the webhook. */
  active: boolean
  /** Time of creation. */
  created_at: string
  /** End time of the latest attempt; null before the first. */
  last_delivery_at: string | null
}

export interface WebhookWithSecret extends Webhook {
  /** Secret that signs deliveries. Returned only in this response. */
  secret: string
}

export interface Delivery {
  /** Id of the delivery, sent as `webhook-id`; the same for all attempts. */
  id: string
  /** Name of the event; `screenshot.upload` for the upload of the image. */
  event: 'screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test' | 'screenshot.upload' | 'upload.test'
  /** Id of the screenshot that the event is about; null if there is none. */
  screenshot_id: string | null
  /** Id of the webhook; null for a delivery to the `webhook_url` of a request, and for an upload. */
  webhook_id: string | null
  /** URL of the receiver, with secrets masked; of an upload that of the bucket. */
  url: string
  /** `failed`: no further attempt is scheduled. */
  status: 'pending' | 'delivered' | 'failed'
  /** Time at which the delivery was queued. */
  created_at: string
  /** Start time of the first attempt. */
  sent_at: string | null
  /** Time at which the next attempt is due; null if none is scheduled. */
  next_attempt_at: string | null
  /** The latest 100 attempts, oldest first. */
  attempts: DeliveryAttempt[]
}

export interface DeliveryAttempt {
  /** Number of the attempt, starting at 1. */
  number: number
  /** Start time of the attempt. */
  at: string
  /** HTTP status of the response; null if there was none. */
  status: number | null
  /** Duration of the attempt in milliseconds. */
  ms: number
  /** Reason for the failure; null if the attempt succeeded. */
  error: 'status' | 'redirect' | 'blocked' | 'dns_failed' | 'connection_failed' | 'tls_failed' | 'timeout' | 'bad_answer' | 'expired' | 'access_denied' | 'no_such_bucket' | 'image_missing' | null
}

export interface QueuedDelivery {
  /** Id of the queued delivery. */
  id: string
}

export interface UploadDestination {
  /** Id of the destination. */
  id: string
  /** Name, by which captures select the destination in `upload_to`. */
  name: string
  /** URL of the S3-compatible store. */
  endpoint: string
  /** Region that requests are signed for. */
  region: string
  /** Name of the bucket. */
  bucket: string
  /** Whether the bucket is in the path of the URL; otherwise it is the first label of the host. */
  path_style: boolean
  /** Template that begins the key of every object. */
  prefix: string
  /** Id of the access key that signs requests. */
  access_key_id: string
  /** Time of creation. */
  created_at: string
  last_upload?: LastUpload
}

/** The latest upload to the destination, a test included. */
export interface LastUpload {
  /** Time at which it was queued. */
  at: string
  /** `pending`: an attempt is due; `failed`: no further attempt is scheduled. */
  status: 'pending' | 'succeeded' | 'failed'
  /** Attempts so far. */
  attempts: number
  /** HTTP status of the latest response; null if there was none. */
  http_status: number | null
  /** Why the latest attempt failed; null if it succeeded. */
  error: 'status' | 'redirect' | 'blocked' | 'dns_failed' | 'connection_failed' | 'tls_failed' | 'timeout' | 'bad_answer' | 'expired' | 'access_denied' | 'no_such_bucket' | 'image_missing' | null
}

export interface SignedUrl {
  /** Link to the image, usable by anyone who has it. */
  url: string
  /** Time at which the link expires; null for a permanent link. */
  expires_at: string | null
  /** Minutes for which the link is valid; 0 for a permanent link. */
  expires_in: number
}

export interface ActivityEntry {
  /** Id of the entry. */
  id: string
  /** Time of the response. */
  at: string
  /** Id of the API key that identified the request; null for a session of the console. */
  key_id: string | null
  /** Id of the session of the console that identified the request. */
  session_id: string | null
  /** IPv4 address, or IPv6 /64, of the request's client. */
  client: string
  /** `operationId` of the request, as in the OpenAPI document. */
  operation: string
  /** Id in the path, or of the screenshot that the request created; null if there is none. */
  object_id: string | null
  /** HTTP status of the response. */
  status: number
  /** Code of the error; null if the request succeeded. */
  code: string | null
}

export interface LinkSecret {
  /** Id of the key, which a link has as `key_id`. */
  key_id: string
  /** The link secret, with which links are signed. Returned only in this response. */
  secret: string
  /** Time of creation. */
  created_at: string
  /** Time from which links of the previous secret are no longer served; null: there are none. */
  previous_expires_at: string | null
}

export interface Link {
  /** The link, usable by anyone who has it. */
  url: string
  /** Time at which the link expires; null: it does not. */
  expires_at: string | null
}
