import t from 'tap'
import { createBodyReader } from '#gateway/http/input.ts'
import { checkWebhook, newWebhook, webhookUpdate } from '#gateway/operations/webhooks/webhook-fields.ts'

const readNew = createBodyReader(newWebhook, checkWebhook)
const readChange = createBodyReader(webhookUpdate, checkWebhook)
const rules = { allowTargets: [] }

t.test('webhook fields: fields missing from a new webhook have their defaults', async (t) => {
  t.same(readNew({ url: 'https://hooks.example/in' }, rules), {
    url: 'https://hooks.example/in',
    events: ['screenshot.completed', 'screenshot.failed'],
    description: '',
    active: true,
  })
})

// Contract: Validation
t.test('webhook fields: each field has one sentence that states its bounds', async (t) => {
  const events = 'screenshot.completed, screenshot.failed, batch.completed, quota.warning, webhook.test'
  const errors = {
    'events.0': [`must be one of ${events}`],
    'events.1': [`must be one of ${events}`],
    active: ['must be true or false'],
    description: ['must be a string of 0 to 500 characters without control characters'],
  }
  const body = { events: ['nope', 1], active: 1, description: '\0' }
  t.throws(() => readChange(body, rules), { code: 'VALIDATION_ERROR', details: errors })
  t.throws(() => readChange({ events: [] }, rules), {
    code: 'VALIDATION_ERROR',
    details: { events: [`must be a list of unique events, each one of ${events}`] },
  })
})
