import t from 'tap'
import { toBatchRecord } from '#gateway/db/find-batch.ts'

const url = 'https://example.com/a'
const found = {
  id: '33333333-3333-4333-8333-333333333333',
  ...{ total: 4, processing: 0, completed: 0, failed: 0, created_at: 'then' },
  screenshots: [
    { index: 1, id: 'x', status: 'pending', url, options: { width: 1 }, created_at: 'then' },
    { index: 2, id: 'y', status: 'completed', url, options: { width: 1 }, created_at: 'then' },
  ],
} as const

// Contract: Batch status
t.test('find batch: derives the status of a batch from its counts', async (t) => {
  const batchStatus = (counts: object) => {
    const { status, pending } = toBatchRecord({ ...found, ...counts })
    return [status, pending]
  }
  t.same(batchStatus({}), ['pending', 4])
  t.same(batchStatus({ processing: 1 }), ['processing', 3])
  t.same(batchStatus({ completed: 3 }), ['processing', 1])
  t.same(batchStatus({ completed: 3, failed: 1 }), ['completed', 0])
})

// Contract: Batch response
t.test(
  'find batch: a completed screenshot shows the main parameters, any other those that were requested',
  async (t) => {
    const [pending, completed] = toBatchRecord(found).screenshots
    t.same(pending?.options, { width: 1 })
    t.match(completed, { index: 2, options: { width: 1, quality: 80 } })
  },
)
