import { mock } from 'node:test'
import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { captureSubject } from '#shared/queue/subjects.ts'
import { captureAgeMs, serveDelivery, type Worker } from '#worker/delivery/serve-delivery.ts'
import { createImageStore } from '#test/helpers/image-store.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { createQueueDouble } from '#test/helpers/queue-double.ts'

// The example of RFC 9562, A.6: 22 February 2022, 19:22:22 GMT.
const acceptedId = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'
const acceptedMs = 0x017f22e279b0
const dayMs = 86_400_000

t.test('serve delivery: the wait of a capture starts at the timestamp in its id, and is a day at most', async (t) => {
  t.equal(captureAgeMs(acceptedId, acceptedMs + 250), 250)
  t.equal(captureAgeMs(acceptedId, acceptedMs + 2 * dayMs), dayMs)
})

t.test('serve delivery: the wait is zero if the clock of the gateway is ahead', async (t) => {
  t.equal(captureAgeMs(acceptedId, acceptedMs - 1), 0)
})

const id = '00000000-0000-4000-8000-000000000000'
const host: Pick<Host, 'capture'> = {
  capture: () => {
    throw new Error('no page may be opened')
  },
}

t.test(
  'serve delivery: hands a capture back for a second if the ledger is unreachable, and pauses the slot as long',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const request = async () => {
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'away' })
    }
    const { promise: handedBack, resolve } = Promise.withResolvers<number | undefined>()
    const lost: string[] = []
    const delivery: Delivery = {
      subject: captureSubject({ pool: 'standard', lane: 'normal', accountId: id, id }),
      data: new Uint8Array(),
      traceparent: undefined,
      storedAtMs: 0,
      ack: () => t.fail('nothing is acknowledged'),
      nak: resolve,
      working: () => {},
    }
    const worker: Worker = {
      queue: createQueueDouble({ request }),
      pool: 'standard',
      pod: 'pod',
      openingKeys: [],
      egress: { outages: () => 0, isUpSince: async () => true, [Symbol.dispose]: () => {} },
      store: createImageStore().store,
      events: {
        dropped: () => {},
        begun: () => {},
        ended: () => {},
        interrupted: () => {},
        lost: (of) => void lost.push(of),
      },
    }
    let isOver = false
    const serve = async () => {
      await serveDelivery(worker, async () => host, delivery)
      isOver = true
    }
    const served = serve()
    t.equal(await handedBack, 1000)
    t.same(lost, [id])
    mock.timers.tick(999)
    await new Promise((resume) => setImmediate(resume))
    t.equal(isOver, false, 'the next capture would fail too')
    mock.timers.tick(1)
    await served
  },
)
