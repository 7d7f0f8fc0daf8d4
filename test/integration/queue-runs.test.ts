import t from 'tap'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { captureSubject, parseCaptureAccountId, parseCaptureId } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'

const nats = await startNats(t)
const queue = await connectQueue({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test', notice: () => {} })
t.teardown(() => queue[Symbol.asyncDispose]())
await declareStreams(queue)
const never = new AbortController().signal

/** Takes what these accounts have published in the lane, in this order, always for a slot that prefers the account of what it took last. */
const takeInRuns = async (lane: Lane, accounts: readonly string[], mayPass: boolean, text = (id: string) => id) => {
  for (const [index, accountId] of accounts.entries()) {
    const id = `${accountId}${index}`
    const subject = captureSubject({ pool: 'standard', lane, accountId, id })
    await eventually(async () => (await publishStored(queue, subject, Buffer.from(text(id)))) === 'stored')
  }
  using puller = new LanePuller(queue, 'standard')
  const taken: string[] = []
  for (let last: string | undefined; taken.length < accounts.length;) {
    const delivery = await puller.take(lanes, never, () =>
      last === undefined ? undefined : { accountId: last, mayPass },
    )
    delivery?.ack()
    last = parseCaptureAccountId(delivery?.subject ?? '')
    taken.push(parseCaptureId(delivery?.subject ?? ''))
  }
  return taken
}

t.test(
  'queue: a slot takes the captures of an account together, and each account in the order of the lane',
  async (t) => {
    const accounts = ['a', 'b', 'c', 'a', 'b', 'c', 'c', 'b', 'a']
    for (const lane of lanes) {
      t.same(await takeInRuns(lane, accounts, true), ['a0', 'a3', 'a8', 'b1', 'b4', 'b7', 'c2', 'c5', 'c6'], lane)
      t.same(await takeInRuns(lane, accounts, false), ['a0', 'b1', 'c2', 'a3', 'b4', 'c5', 'c6', 'b7', 'a8'], lane)
    }
  },
)

t.test('queue: a slot looks no further than half a megabyte for captures of its account', async (t) => {
  const accounts = ['a', 'b', 'b', 'a']
  const large = (id: string) => id.padEnd(400_000)
  t.same(await takeInRuns('normal', accounts, true, large), ['a0', 'b1', 'b2', 'a3'])
})
