import t, { type Test } from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startFaultedWorker } from '#test/helpers/faulted-worker.ts'

const worker = await startFaultedWorker(t)
const { pagesUrl, held, send, killBrowser, killHost } = worker

const killBefore = async (t: Test, kill: () => number) => {
  await worker.ready()
  const id = await send({ url: `${pagesUrl}/held` })
  await eventually(() => held() === 1)
  t.equal(kill(), 1)
  await eventually(() => worker.isHandedBack(id))
  t.match(await worker.lastStarted(id), { attempt: 1, handBacks: 1 })
  await eventually(() => held() === 1, { what: 'the page is requested again' })
  worker.releasePages()
  t.match(await worker.result(id), { outcome: 'completed', attempt: 1 })
}

// Contract: Service faults
t.test('worker browser faults: a browser that is killed before the page has loaded costs the capture no attempt', (t) =>
  killBefore(t, killBrowser),
)

// Contract: Service faults
t.test(
  'worker browser faults: a browser host that is killed before the page has loaded costs the capture no attempt',
  (t) => killBefore(t, killHost),
)

const killAfter = async (t: Test, kill: () => number) => {
  const loads = () => worker.hits.filter((path) => path === '/loaded').length
  let before = loads()
  const id = await send({ url: `${pagesUrl}/says-loaded`, delay: 10 })
  for (const attempt of [1, 2]) {
    await eventually(() => loads() > before)
    before = loads()
    t.match(await worker.lastStarted(id), { kind: 'begun', attempt })
    t.equal(kill(), 1)
  }
  t.match(await worker.result(id), { outcome: 'failed', code: 'RENDER_ERROR', attempt: 2 })
}

// Contract: Service faults
t.test(
  'worker browser faults: a browser that is killed after the page has loaded costs an attempt; the second time it fails',
  (t) => killAfter(t, killBrowser),
)

// Contract: Service faults
t.test(
  'worker browser faults: a browser host that is killed after the page has loaded costs an attempt; the second time it fails',
  (t) => killAfter(t, killHost),
)

// Contract: Time budget
t.test(
  'worker browser faults: a page that ends the browser each time fails after a limited number of redeliveries',
  async (t) => {
    const id = await send({ url: `${pagesUrl}/held` })
    let kills = 0
    while (!(await worker.hasResult(id))) {
      await eventually(async () => held() === 1 || (await worker.hasResult(id)))
      if (killBrowser() === 0) continue
      await eventually(() => held() === 0)
      kills += 1
    }
    t.match(await worker.result(id), { outcome: 'failed', code: 'RENDER_ERROR', attempt: 2 })
    t.ok(kills >= 8, `${kills} times`)
  },
)
