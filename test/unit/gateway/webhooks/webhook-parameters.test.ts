import t from 'tap'
import { readNewWebhook, readWebhookChange } from '#gateway/webhooks/webhook-parameters.ts'

t.test('what a request does not say of a new webhook has its default', async (t) => {
  t.same(readNewWebhook({ url: 'https://hooks.example/in' }, []), {
    url: 'https://hooks.example/in',
    events: ['screenshot.completed', 'screenshot.failed'],
    description: '',
    active: true,
  })
})

// Contract: Validation
t.test('each field says what it may be, in one sentence', async (t) => {
  const events = 'screenshot.completed, screenshot.failed, batch.completed, quota.warning, webhook.test'
  const faults = {
    'events.0': [`must be one of ${events}`],
    'events.1': [`must be one of ${events}`],
    active: ['must be true or false'],
    description: ['must be a text of 0 to 500 characters without control characters'],
  }
  const body = { events: ['nope', 1], active: 1, description: '\0' }
  t.throws(() => readWebhookChange(body, []), { code: 'VALIDATION_ERROR', details: faults })
  t.throws(() => readWebhookChange({ events: [] }, []), {
    code: 'VALIDATION_ERROR',
    details: { events: [`must be a list of different events out of ${events}`] },
  })
})
