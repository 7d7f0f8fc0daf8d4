// Generated from docs/openapi.json by `make docs`.

export interface WebhookParameters {
  /** Public https URL of the receiver. An account has at most 20 webhooks. */
  url: string
  /** Events that are sent to the webhook. */
  events?: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** Free-text description. */
  description?: string
  /** Whether events are sent to the webhook. */
  active?: boolean
}

/** Fields to change. Omitted fields keep their values. */
export interface WebhookChange {
  /** Public https URL of the receiver. An account has at most 20 webhooks. */
  url?: string
  /** Events that are sent to the webhook. */
  events?: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** Free-text description. */
  description?: string
  /** Whether events are sent to the webhook. */
  active?: boolean
}

export interface UploadDestinationParameters {
  /** Name, by which captures select the destination in `upload_to`. */
  name: string
  /** Public https URL of the S3-compatible store, without a path. */
  endpoint: string
  /** Region that requests are signed for. */
  region?: string
  /** Name of the bucket, which must exist. */
  bucket: string
  /** Whether the bucket is in the path of the URL; otherwise it is the first label of the host. */
  path_style?: boolean
  /** Template that begins the key of every object, with the placeholders of `upload_key`. */
  prefix?: string
  /** Id of the access key that signs requests. */
  access_key_id: string
  /** Secret of the access key. Stored sealed, and never returned. */
  secret_access_key: string
}

export interface ApiKeyParameters {
  /** Name of the key, to recognize it. */
  name: string
  /** Hosts, or `*.` and a host, from whose pages the key may be used, so that it can be embedded in them. Default: from anywhere. */
  domains?: string[]
  /** What the key may do: `capture` accepts captures and gets their results, `read` reads everything of the account, `manage` changes keys and webhooks, deletes and redelivers. Default: what the key that creates it may do; in the console everything. */
  scopes?: ('capture' | 'read' | 'manage')[]
  /** Time at which the key expires, in ISO 8601 UTC. Default: never. */
  expires_at?: string | null
}

export interface LinkParameters {
  /** Parameters of the capture, as for a capture, without those that a link may not have. `cache_ttl` defaults to 86400. */
  parameters: Record<string, unknown>
  /** Minutes for which the link is valid; 0: as long as its key is. */
  expires_in?: number
  /** Whether a grey image is shown while the first capture is made. */
  placeholder?: boolean
}
