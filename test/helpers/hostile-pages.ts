import type { Test } from 'tap'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { resultCodec, type ResultMessage } from '#shared/queue/messages.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { type End, type HostilePage, html } from '#test/fixtures/hostile/page.ts'
import { readAnonymousBytes } from '#worker/isolation/processes.ts'
import { findBrowsers } from './bare-browser.ts'
import { startPages } from './browser-host.ts'
import { sendCapture } from './browser-worker.ts'
import { targetRules, startFilter } from './egress-filter.ts'
import { eventually } from './eventually.ts'
import { startLoneWorker } from './lone-worker.ts'
import { type Process, processTree } from './process-tree.ts'
import { inShard } from './in-shard.ts'

/** Time limit of a harmless capture after a hostile one: that of its own attempt, also on a busy machine. */
const nextMs = 30_000
/** Time limit until processes and memory of an ended browser are gone, also on a busy machine. */
const restMs = 30_000
/** Harmless captures until the memory of the worker's own processes is stable. */
const warmUps = 20
/** Memory limit as a multiple of the maximum during harmless captures. */
const memoryShare = 1.2

/** Test timeout: the budget of a capture, and the waits after it. */
const testMs = 240_000

const pagePath = ({ name }: HostilePage) => `/${name.replaceAll(/[^a-z0-9]+/gi, '-')}`
const endOf = (result: ResultMessage | undefined): End | undefined =>
  result?.outcome === 'failed' ? result.code : result?.outcome

/** A worker with one slot and a memory limit that fits test machines, and its result messages. */
const startHostileWorker = async (t: Test, pagesHost: string) => {
  // Enough connections for one capture, so that none is returned to the queue for lack of connections.
  const filter = await startFilter({ rules: targetRules(pagesHost), connectionBytesMax: 1e9, connectionsMax: 64 })
  t.teardown(() => filter[Symbol.asyncDispose]())
  const { worker, queue, to } = await startLoneWorker(t, filter.port, {
    SHUTTERFLEET_WORKER_BROWSER_MEMORY_MAX: String(1.5 * 2 ** 30),
    SHUTTERFLEET_WORKER_CAPTURE_BYTES_MAX: String(64 * 2 ** 20),
  })
  const results: ResultMessage[] = []
  queue.subscribe(resultSubject({ pool: 'standard', id: '*' }), ({ data }) => results.push(resultCodec.decode(data)))
  const resultsOf = (id: string) => results.filter((result) => result.id === id)
  return {
    worker,
    resultsOf,
    /** Waits for the end of a capture; undefined if it does not end within `withinMs`. */
    capture: async (parameters: CaptureParameters, withinMs: number) => {
      const { id } = await sendCapture(to, parameters)
      const isOver = () => resultsOf(id).length > 0
      await eventually(isOver, { withinMs }).catch(() => {})
      return { id, end: endOf(resultsOf(id)[0]) }
    },
    isIdle: async () => {
      const { waiting, inFlight } = await poolDepth(queue, 'standard')
      return waiting + inFlight === 0
    },
  }
}

const isRunning = ({ pid, command }: Process) => processTree(pid)[0]?.command === command

/**
 * Captures each page in one worker. Each must end once, within its budget, with an allowed outcome; the next page must be
 * captured in the same worker; and an ended browser must leave no processes or memory.
 */
export const testHostilePages = async (t: Test, hostile: readonly HostilePage[]): Promise<void> => {
  const routes = hostile.map((each) => {
    const { page } = each
    return { [pagePath(each)]: typeof page === 'string' ? html(page) : page, ...each.routes }
  })
  const pages = await startPages(Object.assign({}, ...routes))
  t.teardown(() => pages[Symbol.asyncDispose]())
  const { worker, capture, resultsOf, isIdle } = await startHostileWorker(t, pages.host)
  const benign = () => capture({ url: `${pages.url}/plain` }, nextMs)
  let before = 0
  for (let count = 0; count < warmUps; count += 1) {
    await benign()
    before = Math.max(before, readAnonymousBytes(worker.pid))
  }
  const most = before * memoryShare

  for (const each of inShard(hostile)) {
    const { todo = false } = each
    t.test(
      `hostile page: ${each.name}: ends as ${each.ends.join(' or ')}, and the worker continues`,
      { timeout: testMs, todo },
      async (t) => {
        const [started] = findBrowsers(worker.pid)
        const old = started ? processTree(started.pid) : []
        const parameters = { url: pages.url + pagePath(each), timeout: 5, ...each.parameters }
        const { id, end } = await capture(parameters, attemptBudgetMs(withDefaults(parameters)))
        t.ok(end && each.ends.includes(end), `${end ?? 'no end'} within the budget`)
        t.equal((await benign()).end, 'completed', `the next page within ${nextMs} ms`)

        // There are two browsers while one replaces the other.
        const isAlone = () => findBrowsers(worker.pid).length === 1
        await eventually(isAlone, { withinMs: restMs, what: 'one browser' })
        const [browser] = findBrowsers(worker.pid)
        if (browser?.pid !== started?.pid) {
          await eventually(() => !old.some(isRunning), {
            withinMs: restMs,
            what: 'the ended browser leaves no process',
          })
        }
        const takes = () => readAnonymousBytes(worker.pid)
        // Captures trigger garbage collection in the worker's own processes.
        const rests = async () => {
          if (takes() > most) await benign()
          return takes() <= most
        }
        await eventually(rests, { withinMs: restMs }).catch(() => t.fail(`${takes()} bytes of memory, at most ${most}`))
        await eventually(isIdle, { withinMs: restMs, what: 'its message is acknowledged' })
        t.equal(resultsOf(id).length, 1, 'one result')
        t.equal(worker.child.exitCode, null, 'the same worker')
      },
    )
  }
}
