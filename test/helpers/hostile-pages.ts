import type { Test } from 'tap'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { resultCodec, type ResultMessage } from '#shared/queue/messages.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { type End, type HostilePage, html } from '#test/fixtures/hostile/page.ts'
import { anonymousBytesOf } from '#worker/isolation/processes.ts'
import { browsersOf } from './bare-browser.ts'
import { startPages } from './browser-host.ts'
import { sendCapture } from './browser-worker.ts'
import { rulesOf, startFilter } from './egress-filter.ts'
import { eventually } from './eventually.ts'
import { startLoneWorker } from './lone-worker.ts'
import { type Process, processTree } from './process-tree.ts'

/** In which a page that means no harm must be captured after one that does, on a machine that does nothing else. */
const nextMs = 5000
/** On one that does, in so many times what the start of the browser and a harmless capture took there. */
const nextStarts = 3
/** In which nothing of a browser that was ended, and no memory, may be left; longer as the next page may take longer. */
const restMs = 10_000
/** Harmless captures until the worker's own processes have grown to their size. */
const warmUps = 20
/** Of the most memory that harmless captures took before. */
const memoryShare = 1.2

/** The budget of a capture, and each of the waits after it. */
const testMs = 90_000

const pathOf = ({ name }: HostilePage) => `/${name.replaceAll(/[^a-z0-9]+/gi, '-')}`
const endOf = (result: ResultMessage | undefined): End | undefined =>
  result?.outcome === 'failed' ? result.code : result?.outcome

/** A worker of one slot with a bound of memory that a machine for tests has, and what it reported of each capture. */
const startHostileWorker = async (t: Test, pagesHost: string) => {
  // As many connections as one capture may have: none must be handed back for want of more.
  const filter = await startFilter({ rules: rulesOf(pagesHost), connectionBytesMax: 1e9, connectionsMax: 64 })
  t.teardown(() => filter[Symbol.asyncDispose]())
  const startedAt = performance.now()
  const { worker, queue, to } = await startLoneWorker(t, filter.port, {
    SHUTTERFLEET_WORKER_BROWSER_MEMORY_MAX: String(1.5 * 2 ** 30),
    SHUTTERFLEET_WORKER_CAPTURE_BYTES_MAX: String(64 * 2 ** 20),
  })
  const startMs = performance.now() - startedAt
  const results: ResultMessage[] = []
  queue.subscribe(resultSubject({ pool: 'standard', id: '*' }), ({ data }) => results.push(resultCodec.decode(data)))
  const resultsOf = (id: string) => results.filter((result) => result.id === id)
  return {
    worker,
    startMs,
    resultsOf,
    /** Waits for the end of a capture; undefined where there is none within `withinMs`. */
    capture: async (parameters: CaptureParameters, withinMs: number) => {
      const began = performance.now()
      const { id } = await sendCapture(to, parameters)
      const isOver = () => resultsOf(id).length > 0
      await eventually(isOver, { withinMs }).catch(() => {})
      return { id, end: endOf(resultsOf(id)[0]), tookMs: performance.now() - began }
    },
    isIdle: async () => {
      const { waiting, inFlight } = await poolDepth(queue, 'standard')
      return waiting + inFlight === 0
    },
  }
}

const isThere = ({ pid, command }: Process) => processTree(pid)[0]?.command === command

/**
 * Lets a worker capture each page. Each must end within its budget as it may, once; the next page must be captured in the
 * same worker; and nothing of a browser that was ended, and no memory, may be left.
 */
export const testHostilePages = async (t: Test, hostile: readonly HostilePage[]): Promise<void> => {
  const routes = hostile.map((each) => {
    const { page } = each
    return { [pathOf(each)]: typeof page === 'string' ? html(page) : page, ...each.routes }
  })
  const pages = await startPages(Object.assign({}, ...routes))
  t.teardown(() => pages[Symbol.asyncDispose]())
  const { worker, startMs, capture, resultsOf, isIdle } = await startHostileWorker(t, pages.host)
  const benign = (withinMs = testMs) => capture({ url: `${pages.url}/plain` }, withinMs)
  let benignMs = 0
  let before = 0
  for (let count = 0; count < warmUps; count += 1) {
    benignMs = Math.max(benignMs, (await benign()).tookMs)
    before = Math.max(before, anonymousBytesOf(worker.pid))
  }
  const most = before * memoryShare
  const withinMs = Math.max(nextMs, Math.round(nextStarts * (startMs + benignMs)))
  const restWithinMs = restMs * (withinMs / nextMs)

  for (const each of hostile) {
    const { todo = false } = each
    t.test(
      `hostile page: ${each.name}: ends as ${each.ends.join(' or ')}, and the worker goes on`,
      { timeout: testMs, todo },
      async (t) => {
        const [started] = browsersOf(worker.pid)
        const old = started ? processTree(started.pid) : []
        const parameters = { url: pages.url + pathOf(each), timeout: 5, ...each.parameters }
        const { id, end } = await capture(parameters, attemptBudgetMs(withDefaults(parameters)))
        t.ok(end && each.ends.includes(end), `${end ?? 'no end'} within the budget`)
        const next = await benign(withinMs)
        t.equal(next.end, 'completed', `the next page within ${withinMs} ms, after ${Math.round(next.tookMs)}`)

        // Two while one takes over from the other.
        const isAlone = () => browsersOf(worker.pid).length === 1
        await eventually(isAlone, { withinMs: restWithinMs, what: 'one browser' })
        const [browser] = browsersOf(worker.pid)
        if (browser?.pid !== started?.pid) {
          await eventually(() => !old.some(isThere), {
            withinMs: restWithinMs,
            what: 'the ended browser leaves no process',
          })
        }
        const takes = () => anonymousBytesOf(worker.pid)
        // Captures make the worker's own processes collect their garbage.
        const rests = async () => {
          if (takes() > most) await benign()
          return takes() <= most
        }
        await eventually(rests, { withinMs: restWithinMs }).catch(() =>
          t.fail(`${takes()} bytes of memory, at most ${most}`),
        )
        await eventually(isIdle, { withinMs: restWithinMs, what: 'its message is acknowledged' })
        t.equal(resultsOf(id).length, 1, 'one result')
        t.equal(worker.child.exitCode, null, 'the same worker')
      },
    )
  }
}
