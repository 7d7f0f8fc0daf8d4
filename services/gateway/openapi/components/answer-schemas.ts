import { featureNames } from '#shared/capture/features.ts'
import { statuses } from '#shared/capture/status.ts'
import { failures } from '#shared/errors/delivery-failures.ts'
import { attemptsMax } from '#gateway/db/deliveries.ts'
import { webhookEvents, webhooksMax } from '#gateway/db/webhooks.ts'
import { perPageMax } from '#gateway/http/input.ts'
import { linkMinutesMax } from '#gateway/links/links.ts'
import {
  address,
  closed,
  count,
  decimal,
  type Fields,
  id,
  inEnvelope,
  moment,
  orNull,
  schemaRef,
  text,
  word,
} from '#gateway/openapi/json-schema.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'

/** A batch, and a page of the list of screenshots. */
export const batchSchemas: Fields = {
  BatchMember: closed({
    index: count('Place of its URL in the request, from 0.'),
    id: id('Id of the screenshot.'),
    status: word(statuses, 'State of the screenshot.'),
    url: orNull(text('Source address, its password masked.')),
    options: { anyOf: [schemaRef('ScreenshotOptions'), schemaRef('CompletedScreenshotOptions')] },
    created_at: moment('When it was accepted.'),
  }),
  Batch: closed({
    id: id('Id of the batch.'),
    status: word(
      ['pending', 'processing', 'completed'],
      '`pending`: none has begun. `completed`: all have ended, some may have failed.',
    ),
    total: count('Screenshots of the batch, deleted ones included.', 1),
    pending: count('How many wait.'),
    processing: count('How many run.'),
    completed: count('How many completed.'),
    failed: count('How many failed.'),
    created_at: moment('When it was accepted.'),
    screenshots: {
      type: 'array',
      maxItems: urlsMax,
      items: schemaRef('BatchMember'),
      description: 'Those that were not deleted, in the order of the request.',
    },
  }),
  BatchAnswer: inEnvelope(schemaRef('Batch')),
  ScreenshotPage: closed({
    data: { type: 'array', maxItems: perPageMax, items: schemaRef('Screenshot'), description: 'The newest first.' },
    links: closed({
      first: address('The first page.'),
      last: orNull(address('The last page; null where no number reaches it.')),
      prev: orNull(address('The page with newer ones; null at the beginning.')),
      next: orNull(address('The page with older ones; null at the end.')),
    }),
    meta: closed(
      {
        current_page: orNull(count('Number of this page; null where it comes from a cursor.', 1)),
        from: orNull(count('Place of its first screenshot in the whole list, from 1.', 1)),
        last_page: count('Number of the last page.', 1),
        path: address('Address of the list.'),
        per_page: count('Screenshots of a page.', 1),
        to: orNull(count('Place of its last screenshot in the whole list.', 1)),
        total: count('Screenshots that fit the filters; exact up to 10,000.'),
        next_cursor: orNull(text('`cursor` of the next page; null at the end.')),
      },
      { total_estimated: { type: 'boolean', const: true, description: 'There where `total` is not exact.' } },
    ),
  }),
  SignedUrlAnswer: inEnvelope(
    closed({
      url: address('The image, for whoever has this link.'),
      expires_at: orNull(moment('When the link ends; null for a permanent one.')),
      expires_in: {
        type: 'integer',
        minimum: 0,
        maximum: linkMinutesMax,
        description: 'Minutes; 0 for a permanent link.',
      },
    }),
  ),
}

/** An account with its plan, and what it has used. */
export const accountSchemas: Fields = {
  Plan: closed({
    name: text('For people.'),
    slug: text('For machines.'),
    screenshots_per_month: orNull(count('Monthly quota; null without a limit.')),
    rate_limit_per_minute: orNull(count('Requests per minute; null without a limit.')),
    retention_hours: { type: 'number', minimum: 0, description: 'How long images are kept.' },
    features: {
      type: 'array',
      uniqueItems: true,
      items: word(featureNames, 'A feature that not all plans have.'),
      description: 'What the plan includes beyond the basics.',
    },
    overage_price: orNull(decimal('Price of a screenshot beyond the quota; null where the quota is a limit.')),
    max_api_keys: orNull(count('API keys that the account may have; null without a limit.')),
    price_monthly: orNull(decimal('Price of a month.')),
    price_yearly: orNull(decimal('Price of a year, which is that of ten months.')),
    currency: orNull(text('Currency of the prices.')),
  }),
  AccountAnswer: inEnvelope(
    closed({
      id: id('Id of the account.'),
      name: text('Name of the account.'),
      email: text('Address of its owner.'),
      plan: schemaRef('Plan'),
      subscription: {
        ...closed({ status: text('State of the subscription.'), current_period_end: moment('When it is renewed.') }),
        type: ['object', 'null'],
        description: 'Null where there is none.',
      },
    }),
  ),
  UsageAnswer: inEnvelope(
    closed({
      screenshots_used: count('Charged in this period; those that have not ended included.'),
      screenshots_limit: orNull(count('Monthly quota; null without a limit.')),
      screenshots_remaining: orNull(count('Left of the quota; null without a limit.')),
      usage_percentage: orNull({
        type: 'number',
        minimum: 0,
        description: 'Two decimals, rounded down; above 100 with overage; null without a limit.',
      }),
      period_start: moment('Beginning of the period.'),
      period_end: moment('End of the period, when the count begins anew.'),
      overage: count('Screenshots beyond the quota.'),
      overage_cost: decimal('What they cost.'),
    }),
  ),
}

const webhook: Fields = {
  id: id('Id of the webhook.'),
  url: address('Where events are sent.'),
  events: { type: 'array', items: word(webhookEvents, 'An event.'), description: 'What is sent.' },
  description: text('A note of the account.'),
  active: { type: 'boolean', description: 'Whether anything is sent.' },
  created_at: moment('When it was made.'),
  last_delivery_at: orNull(moment('When the latest attempt ended; null before the first.')),
}

const secret: Fields = {
  secret: {
    type: 'string',
    pattern: '^whsec_[A-Za-z0-9+/]+=*$',
    description: 'Signs what is sent. Shown in this answer only.',
  },
}

/** Webhooks of an account, and what was sent to them. */
export const webhookSchemas: Fields = {
  Webhook: closed(webhook),
  WebhookAnswer: inEnvelope(schemaRef('Webhook')),
  WebhookList: inEnvelope({
    type: 'array',
    maxItems: webhooksMax,
    items: schemaRef('Webhook'),
    description: 'The oldest first.',
  }),
  WebhookWithSecretAnswer: inEnvelope(closed({ ...webhook, ...secret })),
  DeliveryAttempt: closed({
    number: count('From 1.', 1),
    at: moment('When it began.'),
    status: orNull(count('HTTP status of the answer; null where there was none.')),
    ms: count('Milliseconds that it took.'),
    error: {
      type: ['string', 'null'],
      enum: [...failures, null],
      description: 'Why it failed; null where the receiver took it.',
    },
  }),
  Delivery: closed({
    id: id('Id of the delivery, sent as `webhook-id`; the same over all attempts.'),
    event: word(webhookEvents, 'What it tells.'),
    screenshot_id: orNull(id('The screenshot that it is about, if there is one.')),
    webhook_id: orNull(id("Null for the address in a request's `webhook_url`.")),
    url: text('Where it is sent, secrets masked.'),
    status: word(['pending', 'delivered', 'failed'], '`failed`: all attempts are used up.'),
    created_at: moment('When it was queued.'),
    sent_at: orNull(moment('When the first attempt began.')),
    next_attempt_at: orNull(moment('When the next attempt is due; null where none is.')),
    attempts: {
      type: 'array',
      maxItems: attemptsMax,
      items: schemaRef('DeliveryAttempt'),
      description: `The latest ${attemptsMax}, in order.`,
    },
  }),
  DeliveryPage: closed({
    data: { type: 'array', maxItems: perPageMax, items: schemaRef('Delivery'), description: 'The newest first.' },
    meta: closed({
      per_page: count('Deliveries of a page.', 1),
      next_cursor: orNull(text('`cursor` of the next page; null at the end.')),
    }),
  }),
  QueuedDeliveryAnswer: inEnvelope(closed({ id: id('Id of the delivery that was queued.') })),
}
