import t from 'tap'
import type { Screenshot } from '#client/responses.js'
import { batchesIn } from '#console/views/batches/batches-in.ts'

const capture = (createdAt: string, batchId?: string): Screenshot => ({
  id: createdAt,
  url: null,
  options: { width: 1, height: 1, format: 'png' },
  status: 'pending',
  created_at: createdAt,
  ...(batchId !== undefined && { batch_id: batchId }),
})

t.test('batches: are found once each, in the order of the list, with their captures counted', async (t) => {
  const captures = [capture('4', 'b'), capture('3'), capture('2', 'a'), capture('1', 'b')]
  t.same(batchesIn(captures), [
    { id: 'b', createdAt: '1', captures: 2 },
    { id: 'a', createdAt: '2', captures: 1 },
  ])
})
