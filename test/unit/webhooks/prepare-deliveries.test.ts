import t from 'tap'
import { generateSealingKeys, readOpeningKey } from '#shared/queue/seal.ts'
import type { TakenDelivery } from '#webhooks/db/take-deliveries.ts'
import { prepareDeliveries } from '#webhooks/prepare-deliveries.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const time = '2026-03-01T00:00:00.000000Z'

const delivery: TakenDelivery = {
  ...{ id: 'D', take: 1, accountId: 'A', captureId: null, webhookId: null, destinationId: null, destination: null },
  ...{
    url: 'https://hooks.example/in',
    event: 'batch.completed',
    eventData: null,
    body: testRecords.sealText('D', '{}'),
    sentAt: time,
    takenAt: time,
  },
  ...{
    failures: 0,
    sealedSecret: Buffer.from('sealed with another key'),
    sealedPreviousSecret: null,
    traceparent: null,
    isBehind: null,
  },
}

/** Prepares a delivery with a database that has no captures. Returns it, if it is to be sent, and what was reported. */
const prepare = async (more: Partial<TakenDelivery>) => {
  const unreadable: string[] = []
  const prepared = await prepareDeliveries(
    {
      database: { query: async () => [] },
      openingKeys: [readOpeningKey(generateSealingKeys().private)],
      records: testRecords,
      publicUrl: 'https://shots.example',
      events: { dropped: () => undefined, unreadable: (what) => unreadable.push(what) },
    },
    [{ ...delivery, ...more }],
  )
  return { prepared, unreadable }
}

t.test('prepare deliveries: the report of a secret that cannot be decrypted says whose it is', async (t) => {
  t.strictSame((await prepare({ webhookId: 'W' })).unreadable, ['secret of webhook W'])
  t.strictSame((await prepare({ destinationId: 'U' })).unreadable, ['secret of upload destination U'])
})

t.test('prepare deliveries: a retried upload is not sent once its capture was deleted', async (t) => {
  const { prepared } = await prepare({ sealedSecret: null })
  t.equal(prepared.length, 1, 'without a capture')
  const retried = await prepare({ captureId: 'C', destinationId: 'U' })
  t.strictSame(retried, { prepared: [], unreadable: [] })
})
