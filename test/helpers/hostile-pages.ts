import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { resultCodec, type ResultMessage } from '#shared/queue/messages.ts'
import { generateSealingKeys, readSealingKey } from '#shared/queue/seal.ts'
import { declareStreams, poolDepth } from '#shared/queue/streams.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { type End, type HostilePage, html } from '#test/fixtures/hostile/page.ts'
import { browsersOf } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { sendCapture, startObjectSink, startWorker } from '#test/helpers/browser-worker.ts'
import { rulesOf, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { type Process, processTree } from '#test/helpers/process-tree.ts'
import { anonymousBytesOf } from '#worker/isolation/memory-watch.ts'

/**
 * In which a page that means no harm must be captured after one that does, and in which nothing of that one may be left. Wide
 * enough for a machine that does much else.
 */
const nextMs = 20_000
const restMs = 10_000
/** Harmless captures until the worker's own processes have grown to their size. */
const warmUps = 20
/** Of the memory before the page. */
const memoryShare = 1.2

/** The budget of a capture, and each of the waits after it. */
const testMs = 90_000

const pathOf = ({ name }: HostilePage) => `/${name.replaceAll(/[^a-z0-9]+/gi, '-')}`
const endOf = (result: ResultMessage | undefined): End | undefined =>
  result?.outcome === 'failed' ? result.code : result?.outcome

/** A worker of one slot with a bound of memory that a machine for tests has, and what it reported of each capture. */
const startHostileWorker = async (t: Test, pagesHost: string) => {
  const nats = await startNats(t)
  const queue = await connectQueue({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test', notice: () => {} })
  await declareStreams(queue)
  const filter = await startFilter({ rules: rulesOf(pagesHost), connectionBytesMax: 1e9, connectionsMax: 2000 })
  const store = await startObjectSink()
  const keys = generateSealingKeys()
  const folder = await mkdtemp(join(tmpdir(), 'worker-'))
  // The browser's user passes through it.
  await chmod(folder, 0o711)
  const worker = await startWorker({
    TMPDIR: folder,
    SHUTTERFLEET_NATS_URL: nats.url,
    SHUTTERFLEET_WORKER_EGRESS: `127.0.0.1:${filter.port}`,
    SHUTTERFLEET_WORKER_OPENING_KEYS: keys.private,
    SHUTTERFLEET_WORKER_POD: 'pod-1',
    SHUTTERFLEET_WORKER_BROWSER_MEMORY_MAX: String(1.5 * 2 ** 30),
    SHUTTERFLEET_WORKER_CAPTURE_BYTES_MAX: String(64 * 2 ** 20),
  })
  const results: ResultMessage[] = []
  queue.subscribe(resultSubject({ pool: 'standard', id: '*' }), ({ data }) => results.push(resultCodec.decode(data)))
  t.teardown(async () => {
    await worker[Symbol.asyncDispose]()
    await queue[Symbol.asyncDispose]()
    await Promise.all([filter, store].map((each) => each[Symbol.asyncDispose]()))
    await rm(folder, { recursive: true, force: true })
  })
  const to = { queue, sealingKey: readSealingKey(keys.public), storeUrl: store.url }
  const resultsOf = (id: string) => results.filter((result) => result.id === id)
  return {
    worker,
    resultsOf,
    /** Waits for the end of a capture; undefined where there is none within `withinMs`. */
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
  const { worker, capture, resultsOf, isIdle } = await startHostileWorker(t, pages.host)
  const benign = () => capture({ url: `${pages.url}/plain` }, nextMs)
  for (let count = 0; count < warmUps; count += 1) await benign()
  const before = anonymousBytesOf(worker.pid)

  for (const each of hostile) {
    const { todo = false } = each
    t.test(
      `hostile page: ${each.name}: ends as ${each.ends.join(' or ')}, and the worker goes on`,
      { timeout: testMs, todo },
      async (t) => {
        const [started] = browsersOf(worker.pid)
        const most = Math.max(before, anonymousBytesOf(worker.pid)) * memoryShare
        const old = started ? processTree(started.pid) : []
        const parameters = { url: pages.url + pathOf(each), timeout: 5, ...each.parameters }
        const { id, end } = await capture(parameters, attemptBudgetMs(withDefaults(parameters)))
        t.ok(end && each.ends.includes(end), `${end ?? 'no end'} within the budget`)
        const next = await benign()
        t.equal(next.end, 'completed', 'the next page')

        // Two while one takes over from the other.
        const isAlone = () => browsersOf(worker.pid).length === 1
        await eventually(isAlone, { withinMs: restMs, what: 'one browser' })
        const [browser] = browsersOf(worker.pid)
        if (browser?.pid !== started?.pid) {
          await eventually(() => !old.some(isThere), { withinMs: restMs, what: 'the ended browser leaves no process' })
        }
        const takes = () => anonymousBytesOf(worker.pid)
        // Captures make the worker's own processes collect their garbage.
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
