import { browserKinds } from '#shared/capture/pool-of.ts'
import { lanes, pools } from '#shared/capture/lane.ts'
import {
  component,
  count,
  enumSchema,
  flag,
  id,
  list,
  object,
  optional,
  orNull,
  type Schema,
  typed,
} from '#shared/schema/fields.ts'
import { pauseStates } from '#shared/db/pool-pauses.ts'
import { exampleIds } from '#gateway/records/example-values.ts'
import { accountId, queued, time, timeOrNull, words } from './records.ts'

const state = words('`ok`, or why not.', 'ok')
const captureId = id('Id of the capture.', exampleIds.screenshot)
const most = 10_000

/** Health of the gateway that responds, of the stores, and of the services that it observes. */
export const health = component('Health', {
  version: words('Version of the gateway.', '1.4.0'),
  node: words('Version of Node.', '24.1.0'),
  started_at: time('When the gateway started.'),
  stores: list(
    component('Store', {
      name: words('`postgresql`, `nats` or `object_store`.', 'postgresql'),
      state,
      version: orNull(words('Its version; null if it is not known.', '16.4')),
      kind: typed<'files' | 's3' | null>({
        type: ['string', 'null'],
        enum: ['files', 's3', null],
        description: 'How objects are stored; null for the others.',
        example: null,
      }),
    }),
    most,
    'The stores.',
  ),
  services: list(
    component('Service', { name: words('`ledger` or `controller`.', 'ledger'), state }),
    most,
    'The services that report over NATS.',
  ),
  tasks: list(
    component('Task', {
      name: words('Work in the background.', 'deliver_webhooks'),
      waiting: orNull(count('How much is due, at most 10,000; null for a cursor.', { example: 3 })),
      since: timeOrNull('When the first was due, or the pass began.'),
    }),
    most,
    'What the work in the background has left to do.',
  ),
  advice: orNull(words('What to change about the addresses of clients; null if nothing.', 'Set …')),
})

/** A check of the installation with its result. */
export const finding = component('Finding', {
  name: words('What was checked.', 'public_url'),
  state: enumSchema(['ok', 'warning', 'failed'], '`warning`: it works, but something should be changed.', {
    example: 'warning',
  }),
  detail: words('What was found.', 'not set: links in responses begin with http://10.0.0.7:8080'),
  advice: orNull(words('What to do; null if the state is `ok`.', 'set SHUTTERFLEET_PUBLIC_URL')),
})

/** Installed browsers of workers with the same version and build time. */
export const browser = component('Browser', {
  browser: enumSchema(browserKinds, '`shell`: the headless shell; `full`: full Chromium.', { example: 'shell' }),
  version: words('Its version.', '156.0.8078.108'),
  built_at: timeOrNull(
    'When it was built, by the modification time of its binary, which packages set; null if that cannot be it.',
  ),
  age_days: orNull(count('Days since then.', { example: 4 })),
  advice: orNull(
    words('What to do about its age; null if it is within `SHUTTERFLEET_BROWSER_AGE_DAYS_MAX`.', 'Update'),
  ),
  workers: count('Workers that have it.', { example: 3 }),
})

const decisionChange = component('DecisionChange', {
  at: time('When the decision changed.'),
  desired: count('Workers that are desired.', { example: 3 }),
  min: count('Fewest workers.', { example: 1 }),
  max: count('Most workers.', { example: 10 }),
  ...optional({ ready: count('Workers that are ready; absent if they could not be read.', { example: 2 }) }),
  decision: words('What is done.', 'scale-up'),
  reason: words('Why.', 'backlog'),
})

/** That an operator has paused a pool. */
export const poolPause = component('PoolPause', {
  pool: enumSchema(pools, 'The pool.', { example: 'standard' }),
  since: time('When it was paused.'),
  by: words('Who paused it, or changed the pause last, as in the audit log.', 'admin:alice'),
  reason: words('Why.', 'New egress rules'),
  until: timeOrNull('When the pause ends by itself; null: when the pool is resumed.'),
  state: enumSchema(
    pauseStates,
    '`pausing`: the queue does not hold captures back yet, or reports of before are unread; `draining`: captures still run; `drained`: none has run for seconds.',
    { example: 'draining' },
  ),
})

const oldestSeconds = typed<number>({
  type: 'number',
  minimum: 0,
  description: 'Age of the oldest capture that waits.',
  example: 1.2,
})

/** A queue with the pools and workers that serve it. */
export const poolState = component('PoolState', {
  pool: enumSchema(pools, 'The queue.', { example: 'standard' }),
  ...queued,
  oldest_seconds: oldestSeconds,
  pause: orNull(poolPause),
  lanes: list(
    component('LaneState', {
      lane: enumSchema(lanes, 'The lane.', { example: 'normal' }),
      ...queued,
      oldest_seconds: oldestSeconds,
      objective_seconds: orNull(
        typed<number>({
          type: 'number',
          description:
            'Longest time that a capture should wait for a worker; of several pools that serve the queue, the shortest one. Null if the controller has reported none.',
          example: 10,
        }),
      ),
    }),
    lanes.length,
    'The lanes, most urgent first.',
  ),
  browser_pools: list(
    component('BrowserPool', {
      name: words('Name of the BrowserPool; without Kubernetes that of the queue.', 'standard'),
      state,
      changes: list(
        decisionChange,
        200,
        'The latest changes of the decisions since this gateway started, newest first.',
      ),
    }),
    256,
    'The pools that serve the queue.',
  ),
  workers: list(
    component('Worker', {
      pod: words('Name of the worker.', 'shutterfleet-standard-7d9f'),
      state: words('`starting`, `ready`, `draining` or `drained`.', 'ready'),
      slots: count('Captures that it can have in a browser at a time.', { example: 4 }),
      busy: count('Slots in use.', { example: 1 }),
      captures: list(captureId, 64, 'The captures that it serves.'),
      service_ms: orNull(count('Mean service time of recent captures; null before the first.', { example: 1830 })),
    }),
    4096,
    'The workers that report.',
  ),
})

/** What happened to a capture, without what it shows. */
export const trace: Schema<object> = component('CaptureTrace', {
  id: captureId,
  account_id: accountId,
  account_name: words('Name of the account.', 'Acme'),
  status: enumSchema(['pending', 'processing', 'completed', 'failed'], 'Status.', { example: 'completed' }),
  pool: enumSchema(pools, 'The queue.', { example: 'standard' }),
  lane: enumSchema(lanes, 'The lane.', { example: 'normal' }),
  attempts: count('Attempts that began.', { example: 1 }),
  cached: flag('Whether it shares the result of another.', { example: false }),
  batch_id: orNull(
    typed<string>({ type: 'string', format: 'uuid', description: 'Id of its batch; null without one.' }),
  ),
  created_at: time('Time of acceptance.'),
  started_at: timeOrNull('When the latest attempt began.'),
  completed_at: timeOrNull('When it ended.'),
  expires_at: timeOrNull('When its image is removed.'),
  file_size: orNull(count('Bytes of the image.', { example: 48_213 })),
  mime_type: orNull(words('Media type of the image.', 'image/png')),
  timings: orNull(
    typed<object>({
      type: 'object',
      additionalProperties: { type: 'number' },
      description: 'Milliseconds by stage.',
      example: { navigate: 612 },
    }),
  ),
  error_code: orNull(typed<string>({ type: 'string', description: 'Code of the error.' })),
  error_message: orNull(
    typed<string>({
      type: 'string',
      description: 'Message of the error; null if it is that of a worker, which may quote the page or the request.',
    }),
  ),
  traceparent: orNull(typed<string>({ type: 'string', description: 'W3C trace context of its request.' })),
})

/** A receiver of webhooks that does not answer. */
export const pausedHost: Schema<object> = component('PausedHost', {
  host: words('Host of the receiver.', 'hooks.example.com'),
  account_id: accountId,
  account_name: words('Name of the account.', 'Acme'),
  unanswered: count('Requests in succession that were not answered.', { example: 12 }),
  paused_until: time('Until when it is left alone.'),
})

/** A setting of the gateway. */
export const setting = object({
  name: words('Name of the variable.', 'SHUTTERFLEET_LOG_LEVEL'),
  value: words('Its value as text.', 'info'),
  is_default: flag('Whether it is not set.', { example: true }),
})
