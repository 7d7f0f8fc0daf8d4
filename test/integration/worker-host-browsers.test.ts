import { readFileSync } from 'node:fs'
import t from 'tap'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { type Process, processTree } from '#test/helpers/process-tree.ts'
import type { Host } from '#worker/host/steer-host.ts'

const html = { 'content-type': 'text/html' }
/** Process ids of the browsers below this process. */
const browsers = () =>
  processTree(process.pid).flatMap(({ pid, command }) =>
    command.startsWith(chromiumPath) && !command.includes('--type=') ? [pid] : [],
  )
const pids: (readonly number[])[] = []
const pages = await startPages({
  '/seen': (_request, response) => {
    pids.push(browsers())
    response.writeHead(200, html).end('<title>seen</title><p>seen')
  },
  // Navigates elsewhere in its head; the response never ends.
  '/given-up': (_request, response) =>
    void response.writeHead(200, html).write('<title>first</title><script>location.replace("/second")</script>'),
  '/second': (_request, response) =>
    void setTimeout(() => response.writeHead(200, html).end('<title>second</title>'), 300),
})
const egress = await startTestEgress(pages.host)
t.teardown(async () => {
  await egress[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

/** The browsers that ran while a page was served, before and after a capture of `path`. */
const browsersAround = async (host: Host, path: string) => {
  for (const each of ['/seen', path, '/seen']) {
    const outcome = await captureWith(host, { url: pages.url + each, timeout: 5 })
    if (each === '/seen') t.equal(outcome.outcome, 'completed')
  }
  const [before, after] = [pids.at(0), pids.at(-1)]
  pids.length = 0
  return [before, after]
}

t.test('browser: serves captures one after the other, and is kept after a page fails by its target', async (t) => {
  await using host = await startTestHost(egress)
  const [before, after] = await browsersAround(host, '/nowhere.pdf')
  t.same(after, before)
})

t.test('browser: is replaced when it is old', async (t) => {
  await using host = await startTestHost(egress, { recycleMs: 1 })
  const [before, after] = await browsersAround(host, '/plain')
  t.notSame(after, before)
})

t.test('browser: is replaced after a page that did not end, because the page may still use it', async (t) => {
  await using host = await startTestHost(egress)
  const [before, after] = await browsersAround(host, '/endless')
  t.notSame(after, before)
})

t.test('document: a page that navigates elsewhere while it loads does not fail the capture', async (t) => {
  await using host = await startTestHost(egress)
  const outcome = await captureWith(host, { url: `${pages.url}/given-up`, timeout: 20 })
  t.match(outcome, { outcome: 'completed', shot: { finalUrl: `${pages.url}/second` } })
})

t.test('browser host: limits malloc to two arenas instead of one per thread', async (t) => {
  await using _host = await startTestHost(egress)
  const isHost = ({ command }: Process) => command.startsWith(process.execPath) && command.includes('browser-host/main')
  const host = processTree(process.pid).find(isHost)
  t.match(readFileSync(`/proc/${host?.pid}/environ`, 'utf8'), /(^|\0)MALLOC_ARENA_MAX=2\0/)
})
