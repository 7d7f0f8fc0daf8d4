import { createServer } from 'node:http'
import t from 'tap'
import { endsBeforeMs } from '#shared/capture/budget.ts'
import { withDefaults } from '#shared/capture/options.ts'
import { resultCodec } from '#shared/queue/messages.ts'
import { startObjectSink } from '#test/helpers/browser-worker.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { createImageStore } from '#test/helpers/image-store.ts'
import type { Fault, Outcome } from '#worker/protocol/protocol.ts'
import { type NotStored, runAttempt } from '#worker/delivery/run-attempt.ts'
import type { Host } from '#worker/host/steer-host.ts'
import type { EgressLink } from '#worker/lifecycle/egress-link.ts'
import { openTestDetails, testRecords } from '#test/helpers/record-seal.ts'

const store = await startObjectSink()
t.teardown(() => store[Symbol.asyncDispose]())

const id = '00000000-0000-4000-8000-000000000000'
const objectKey = (attempt: number) => `captures/2026-11-20T07/${id}/${String(attempt).repeat(32)}`
const completed: Extract<Outcome, { outcome: 'completed' }> = {
  outcome: 'completed',
  shot: {
    bytes: Buffer.from('image'),
    sha256: '0'.repeat(64),
    width: 1,
    height: 1,
    mimeType: 'image/png',
    targetStatus: 200,
    finalUrl: undefined,
    warnings: [],
  },
  timings: {},
}
const failed: Outcome = {
  outcome: 'failed',
  code: 'CONNECTION_FAILED',
  message: 'closed',
  blame: 'target',
  detail: '',
  timings: {},
}
const interrupted = (by: Fault, isLoaded = false): Outcome => ({
  outcome: 'interrupted',
  by,
  isLoaded,
  detail: 'gone',
  timings: {},
})

const before = { queue: 40, claim: 2 }

const run = async (
  outcome: Outcome,
  of: {
    attempt?: number
    handBacks?: number
    isRepeat?: boolean
    stood?: boolean
    budgetMs?: number
    used?: readonly string[]
    isOpen?: boolean
    storeUrl?: string
  } = {},
) => {
  const { attempt = 1, handBacks = 0, isRepeat = false, stood = true, budgetMs = 60_000, isOpen = true } = of
  const { storeUrl = store.url } = of
  store.objects.clear()
  for (const key of of.used ?? []) store.objects.set(key, Buffer.from('another'))
  const calls: { deadline?: number; judged?: [number, boolean] } = {}
  const host: Pick<Host, 'capture'> = {
    capture: async (_order, endsAt) => {
      calls.deadline = endsAt
      return outcome
    },
  }
  const egress: EgressLink = {
    outages: () => 7,
    isUpSince: async (outages, isUnanswered) => {
      calls.judged = [outages, isUnanswered]
      return stood
    },
    [Symbol.dispose]: () => {},
  }
  const puts = [1, 2, 3].map((number) => ({ key: objectKey(number), url: `${storeUrl}/${objectKey(number)}` }))
  const sealed = { options: withDefaults({ html: 'x' }), token: 'token', resultKey: testRecords.resultKey(id), puts }
  const endsAt = performance.now() + budgetMs
  const fresh = objectKey(9)
  const images = createImageStore(async () => (isOpen ? { key: fresh, url: `${store.url}/${fresh}` } : undefined))
  const left = await runAttempt(
    host,
    { egress, store: images.store },
    { id, attempt, handBacks, isRepeat, sealed, endsAt, before },
  )
  const storedBefore = store.objects.size
  const end = 'finish' in left ? await left.finish() : left
  return { end, calls, endsAt, storedBefore, stored: [...store.objects.keys()], holds: images.holds.holds() }
}

t.test("deadline: the host gets the end of the attempt's budget, and subtracts its own margins", async (t) => {
  const { calls, endsAt } = await run(completed)
  t.equal(calls.deadline, endsAt)
})

t.test('image: is stored under the key of its attempt', async (t) => {
  const { end, storedBefore, stored } = await run(completed, { attempt: 2 })
  t.equal(storedBefore, 0, 'not before the browser is free')
  t.match(end, { result: { outcome: 'completed', attempt: 2, objectKey: objectKey(2), token: 'token' } })
  t.same(stored, [objectKey(2)])
})

t.test(
  'image: the repeat of a handed-back attempt gets a new address if the first run has used the sealed one',
  async (t) => {
    const { end, stored } = await run(completed, { attempt: 2, isRepeat: true, used: [objectKey(2)] })
    t.match(end, { result: { outcome: 'completed', attempt: 2, objectKey: objectKey(9) } })
    t.same(stored, [objectKey(2), objectKey(9)])
  },
)

t.test('image: if the store does not take it in time, the attempt is handed back and may still complete', async (t) => {
  const left = await run(completed, { handBacks: 2, budgetMs: 0 })
  const notStored = left.end as NotStored
  const fate = { kind: 'handed-back', handBacks: 2 } as const
  t.match(notStored.interruption, { by: 'store', detail: 'no time was left', fate })
  t.same([left.stored, [...left.holds.keys()]], [[], ['store']])
  t.match(await notStored.late(), { result: { outcome: 'completed', attempt: 1, objectKey: objectKey(1) } })
  t.same([[...store.objects.keys()], left.holds.size], [[objectKey(1)], 0])
})

t.test('image: an attempt whose store did not confirm its image names the object as it is handed back', async (t) => {
  const unsure = await listening(
    createServer((request, response) => request.resume().on('end', () => response.writeHead(503).end())),
  )
  t.teardown(() => unsure[Symbol.asyncDispose]())
  const storeUrl = `http://127.0.0.1:${unsure.port}`
  const { end } = await run(completed, { attempt: 2, budgetMs: endsBeforeMs.store + 500, storeUrl })
  const { fate } = (end as NotStored).interruption
  t.strictSame(fate, { kind: 'handed-back', handBacks: 0, objectKeys: [objectKey(2)] })
})

t.test('image: if the capture is no longer open, the attempt is closed, not handed back', async (t) => {
  const { end, holds } = await run(completed, { isRepeat: true, used: [objectKey(1)], isOpen: false })
  t.same([end, holds.size], [{ closed: true }, 0])
})

t.test('timings: begin with the stages before the attempt, for any outcome', async (t) => {
  for (const outcome of [completed, failed]) {
    const { end } = await run({ ...outcome, timings: { open: 1 } })
    if (!('result' in end)) return t.fail('no result')
    t.match(Object.entries(end.result.timings).slice(0, 3), Object.entries({ ...before, open: 1 }))
  }
})

t.test('details: what the result quotes of the page is sealed to the record', async (t) => {
  const details = { finalUrl: 'https://a.com/?m4rker', warnings: [], metadata: { title: 'm4rker' } }
  const { end } = await run({ ...completed, shot: { ...completed.shot, ...details } })
  if (!('result' in end) || end.result.outcome !== 'completed') return t.fail('no result')
  t.notMatch(Buffer.from(resultCodec.encode(end.result)).toString(), /m4rker/)
  t.strictSame(openTestDetails(end.result.details ?? ''), details)
  const { end: without } = await run(failed)
  if (!('result' in without)) return t.fail('no result')
  t.strictSame(openTestDetails(without.result.details ?? ''), { message: 'closed' })
})

t.test('egress outage: hands the capture back with any outcome, without an upload, however often', async (t) => {
  for (const outcome of [completed, failed, interrupted('egress'), interrupted('browser', true)]) {
    const { end, calls, stored } = await run(outcome, { attempt: 2, handBacks: 3, stood: false })
    t.match(end, { interruption: { by: 'egress', fate: { kind: 'handed-back', handBacks: 3 } } })
    t.same(stored, [])
    t.same(calls.judged, [7, outcome.outcome === 'interrupted' && outcome.by === 'egress'])
  }
})

const table: { name: string; outcome: Outcome; of: object; want: object }[] = [
  {
    name: 'a failure of the target stays its failure',
    outcome: failed,
    of: {},
    want: { result: { outcome: 'failed', code: 'CONNECTION_FAILED' } },
  },
  {
    name: 'a browser exit before the page has loaded counts as a hand-back',
    outcome: interrupted('browser'),
    of: { handBacks: 2 },
    want: { interruption: { by: 'browser', fate: { kind: 'handed-back', handBacks: 3 } } },
  },
  {
    name: 'an overloaded egress counts as a hand-back, whether or not the page had loaded',
    outcome: interrupted('overload', true),
    of: { handBacks: 1 },
    want: { interruption: { by: 'overload', fate: { kind: 'handed-back', handBacks: 2 } } },
  },
  {
    name: 'an overloaded egress fails the capture after three hand-backs of the second attempt',
    outcome: interrupted('overload'),
    of: { attempt: 2, handBacks: 3 },
    want: { result: { outcome: 'failed', code: 'JOB_FAILED' } },
  },
  {
    name: 'the fourth browser exit loses the attempt',
    outcome: interrupted('browser'),
    of: { handBacks: 3 },
    want: { interruption: { fate: { kind: 'lost' } } },
  },
  {
    name: 'the fourth browser exit in the second attempt fails the capture',
    outcome: interrupted('browser'),
    of: { attempt: 2, handBacks: 3 },
    want: { result: { outcome: 'failed', code: 'RENDER_ERROR' } },
  },
  {
    name: 'a browser exit after the page has loaded loses the attempt',
    outcome: interrupted('browser', true),
    of: {},
    want: { interruption: { fate: { kind: 'lost' } } },
  },
  {
    name: 'a browser exit after the page has loaded in the second attempt fails the capture',
    outcome: interrupted('browser', true),
    of: { attempt: 2 },
    want: { result: { outcome: 'failed', code: 'RENDER_ERROR' } },
  },
  {
    name: 'a broken connection with egress up counts as a hand-back, whether or not the page had loaded',
    outcome: interrupted('egress', true),
    of: {},
    want: { interruption: { by: 'egress', fate: { kind: 'handed-back', handBacks: 1 } } },
  },
  {
    name: 'a worker that did not run counts as a hand-back',
    outcome: interrupted('worker'),
    of: { handBacks: 2 },
    want: { interruption: { by: 'worker', fate: { kind: 'handed-back', handBacks: 3 } } },
  },
  {
    name: 'a worker that did not run four times fails the capture in its first attempt',
    outcome: interrupted('worker'),
    of: { handBacks: 3 },
    want: { result: { outcome: 'failed', code: 'JOB_FAILED' } },
  },
  {
    name: 'repeated broken connections fail the capture with JOB_FAILED',
    outcome: interrupted('egress'),
    of: { attempt: 2, handBacks: 3 },
    want: { result: { outcome: 'failed', code: 'JOB_FAILED' } },
  },
]

for (const { name, outcome, of, want } of table) {
  t.test(`run attempt: ${name}`, async (t) => {
    const { end, stored } = await run(outcome, of)
    t.match(end, want)
    t.same(stored, [])
  })
}
