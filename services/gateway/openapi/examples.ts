const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const batchId = '7d444840-9dc0-41d1-b245-5ffdce74fad2'
const webhookId = '9b2d7a54-64c8-4c1f-8f3f-2f5a3c6f6f10'
const deliveryId = 'c0ffee00-1234-4abc-9def-0123456789ab'
const createdAt = '2026-03-01T09:30:00.123456Z'
const effective = { width: 1280, height: 800, format: 'png' }
const accepted = { id, status: 'pending', url: 'https://example.com/', options: effective, created_at: createdAt }

const completed = {
  id,
  status: 'completed',
  url: 'https://example.com/',
  options: {
    ...effective,
    quality: 80,
    device: 'desktop',
    block_ads: false,
    block_cookies: true,
    dark_mode: false,
    delay: 0,
    timeout: 30,
    retina: false,
    full_page: false,
    extract_metadata: true,
  },
  created_at: createdAt,
  started_at: '2026-03-01T09:30:00.223456Z',
  completed_at: '2026-03-01T09:30:01.823456Z',
  expires_at: '2026-03-08T09:30:01.823456Z',
  timings: {
    queue: 100,
    claim: 10,
    open: 40,
    navigate: 610,
    prepare: 30,
    settle: 220,
    shoot: 420,
    encode: 170,
    inspect: 10,
    store: 60,
    commit: 20,
    total: 1600,
  },
  file_size: 48_211,
  mime_type: 'image/png',
  width: 1280,
  height: 800,
  processing_time_ms: 1600,
  image_url: `https://shots.example.com/v1/screenshots/${id}/image`,
  cached: false,
  target_status: 200,
  final_url: 'https://example.com/',
  metadata: {
    title: 'Example Domain',
    language: 'en',
    favicon: 'https://example.com/icon.svg',
    og: { title: 'Example Domain', image: 'https://example.com/card.png' },
  },
  warnings: [],
}

const webhook = {
  id: webhookId,
  url: 'https://hooks.example.com/shots',
  events: ['screenshot.completed', 'screenshot.failed'],
  description: 'Production',
  active: true,
  created_at: createdAt,
  last_delivery_at: null,
}

const attempt = { number: 1, at: '2026-03-01T09:30:01.900000Z', status: 200, ms: 84, error: null }

const {
  started_at: _startedAt,
  expires_at: _expiresAt,
  timings: _timings,
  cached: _cached,
  target_status: _targetStatus,
  final_url: _finalUrl,
  warnings: _warnings,
  ...told
} = completed
const sentAt = attempt.at

/** What receivers are sent, by event. */
export const eventExamples = {
  'screenshot.completed': { event: 'screenshot.completed', data: told, sent_at: sentAt },
  'screenshot.failed': {
    event: 'screenshot.failed',
    data: {
      id,
      status: 'failed',
      url: 'https://example.com/',
      error: { code: 'TIMEOUT', message: 'The page did not load in time.' },
      created_at: createdAt,
    },
    sent_at: sentAt,
  },
  'batch.completed': {
    event: 'batch.completed',
    data: { id: batchId, status: 'completed', total: 20, completed: 19, failed: 1, created_at: createdAt },
    sent_at: sentAt,
  },
  'quota.warning': {
    event: 'quota.warning',
    data: {
      id: deliveryId,
      percentage: 80,
      screenshots_used: 12_000,
      screenshots_limit: 15_000,
      period_start: '2026-03-01T00:00:00.000000Z',
    },
    sent_at: sentAt,
  },
  'webhook.test': { event: 'webhook.test', data: { id: deliveryId, webhook_id: webhookId }, sent_at: sentAt },
} as const

/** Answers as they look, by the component that is their schema. */
export const examples = {
  AcceptedScreenshotAnswer: { data: accepted },
  FlatScreenshot: {
    id,
    status: 'pending',
    url: 'https://example.com/',
    webhook_url: 'https://hooks.example.com/screenshots',
    created_at: createdAt,
  },
  ScreenshotAnswer: { data: completed },
  EndedScreenshotAnswer: { data: completed },
  ScreenshotPage: {
    data: [completed],
    links: {
      first: 'https://shots.example.com/v1/screenshots?page=1',
      last: 'https://shots.example.com/v1/screenshots?page=1',
      prev: null,
      next: null,
    },
    meta: {
      current_page: 1,
      from: 1,
      last_page: 1,
      path: 'https://shots.example.com/v1/screenshots',
      per_page: 20,
      to: 1,
      total: 1,
      next_cursor: null,
    },
  },
  BatchAnswer: {
    data: {
      id: batchId,
      status: 'pending',
      total: 1,
      pending: 1,
      processing: 0,
      completed: 0,
      failed: 0,
      created_at: createdAt,
      screenshots: [{ index: 0, ...accepted }],
    },
  },
  SignedUrlAnswer: {
    data: {
      url: `https://shots.example.com/v1/screenshots/${id}/image?expires=1772361000&kid=k1&signature=${'ab'.repeat(32)}`,
      expires_at: '2026-03-01T10:30:00.000000Z',
      expires_in: 60,
    },
  },
  AccountAnswer: {
    data: {
      id: '1b4e28ba-2fa1-41d2-883f-0016d3cca427',
      name: 'Acme',
      email: 'platform@example.com',
      plan: {
        name: 'Pro',
        slug: 'pro',
        screenshots_per_month: 15_000,
        rate_limit_per_minute: 40,
        retention_hours: 168,
        features: ['retina', 'pdf', 'webhooks', 'batch'],
        overage_price: '0.006',
        max_api_keys: 5,
        price_monthly: '29',
        price_yearly: '290',
        currency: 'USD',
      },
      subscription: null,
    },
  },
  UsageAnswer: {
    data: {
      screenshots_used: 1204,
      screenshots_limit: 15_000,
      screenshots_remaining: 13_796,
      usage_percentage: 8.02,
      period_start: '2026-03-01T00:00:00.000000Z',
      period_end: '2026-04-01T00:00:00.000000Z',
      overage: 0,
      overage_cost: '0.000',
    },
  },
  WebhookAnswer: { data: webhook },
  WebhookList: { data: [webhook] },
  WebhookWithSecretAnswer: { data: { ...webhook, secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' } },
  DeliveryPage: {
    data: [
      {
        id: deliveryId,
        event: 'screenshot.completed',
        screenshot_id: id,
        webhook_id: webhookId,
        url: 'https://hooks.example.com/shots',
        status: 'delivered',
        created_at: '2026-03-01T09:30:01.823456Z',
        sent_at: '2026-03-01T09:30:01.900000Z',
        next_attempt_at: null,
        attempts: [attempt],
      },
    ],
    meta: { per_page: 20, next_cursor: null },
  },
  QueuedDeliveryAnswer: { data: { id: deliveryId } },
} as const

/** Streams as they look. */
export const streamExamples = {
  capture: `retry: 2000\n\nevent: status\nid: pending-3\ndata: {"status":"pending","position":3}\n\nevent: result\nid: result\ndata: {"id":"${id}","status":"completed"}\n\n`,
  batch: `retry: 2000\n\nevent: status\nid: m0\ndata: {"status":"processing","total":2,"pending":1,"processing":1,"completed":0,"failed":0}\n\n`,
} as const
