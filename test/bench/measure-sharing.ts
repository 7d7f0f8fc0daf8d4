// Measures what it costs to share browsers less, one slot: captures per second and processor time with two callers at a time; then,
// one capture at a time with the spare host warm, how long a capture waits until it has its host:
// node test/bench/measure-sharing.ts
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connectQueue } from '#shared/queue/connection.ts'
import { generateSealingKeys, readSealingKey } from '#shared/queue/seal.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { countCpuByPart } from '#test/bench/engine/cpu-by-part.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { awaitResult, sendCapture, startObjectSink, startWorker } from '#test/helpers/browser-worker.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { processTree, pssBytes } from '#test/helpers/process-tree.ts'

const rounds = 3
const captures = 30
const changes = 10
/** Enough for a host to start after the burst. */
const spareMs = 8000

const teardowns: (() => Promise<void>)[] = []
const nats = await startNats({ teardown: (end) => void teardowns.push(end) })
const queue = await connectQueue({ url: nats.url, name: 'bench', inboxPrefix: '_INBOX_bench', notice: () => {} })
await declareStreams(queue)
const pages = await startPages()
const filter = await startFilter({ rules: targetRules(pages.host), connectionBytesMax: 1e9 })
const store = await startObjectSink()
const keys = generateSealingKeys()
const folder = await mkdtemp(join(tmpdir(), 'sharing-'))
await chmod(folder, 0o711)
const dispatch = { queue, sealingKey: readSealingKey(keys.public), storeUrl: store.url }
const accounts = [crypto.randomUUID(), crypto.randomUUID()]

const measureSharing = async (sharing: string, accountOf: (index: number) => string | undefined) => {
  await using worker = await startWorker({
    TMPDIR: folder,
    SHUTTERFLEET_NATS_URL: nats.url,
    SHUTTERFLEET_WORKER_EGRESS: `127.0.0.1:${filter.port}`,
    SHUTTERFLEET_WORKER_OPENING_KEYS: keys.private,
    SHUTTERFLEET_WORKER_SHARE_BROWSERS: sharing,
  })
  const take = async (index: number) => {
    const accountId = accountOf(index) ?? crypto.randomUUID()
    const { id } = await sendCapture(
      dispatch,
      { url: `${pages.url}/plain`, format: 'jpeg', timeout: 30 },
      { accountId },
    )
    const result = await awaitResult(queue, id)
    if (result.outcome !== 'completed') throw new Error(`capture ${index}: ${result.outcome}`)
    return result.timings
  }
  for (let index = 0; index < 4; index += 1) await take(index)
  using counted = countCpuByPart(worker.pid)
  const cpu = () => [...counted.read().values()].reduce((sum, each) => sum + each, 0)
  const before = cpu()
  const began = performance.now()
  let next = 0
  const captureUntilDone = async () => {
    while (next < captures) {
      next += 1
      await take(next)
    }
  }
  await Promise.all([captureUntilDone(), captureUntilDone()])
  const seconds = (performance.now() - began) / 1000
  const cpuMs = ((cpu() - before) * 1000) / captures
  const waits: number[] = []
  const warmHosts = () => worker.log().split('browser host is warm').length
  const changesHost = sharing === 'capture' || (sharing === 'account' && accountOf(0) !== accountOf(1))
  // The first of the captures below is of the other account.
  await take(1)
  await delay(spareMs)
  for (let index = 0; index < changes; index += 1) {
    const warm = warmHosts()
    const { claim = 0, open = 0 } = await take(index)
    waits.push(claim + open)
    if (changesHost) await eventually(() => warmHosts() > warm, { withinMs: 60_000, what: 'the next spare host' })
  }
  const bytes = processTree(worker.pid).reduce((sum, { pid }) => sum + pssBytes(pid), 0)
  return {
    perSecond: captures / seconds,
    cpuMs,
    mib: bytes / 2 ** 20,
    waits: waits.toSorted((a, b) => a - b),
  }
}

const rows = [
  ['pool', 'pool', () => accounts[0]],
  ['account, one account', 'account', () => accounts[0]],
  ['account, two in turns', 'account', (index: number) => accounts[index % 2]],
  ['capture', 'capture', () => accounts[0]],
] as const
for (let round = 1; round <= rounds; round += 1) {
  for (const [name, sharing, accountOf] of rows) {
    const { perSecond, cpuMs, mib, waits } = await measureSharing(sharing, accountOf)
    console.log(
      round,
      name,
      `${perSecond.toFixed(2)}/s`,
      `${cpuMs.toFixed(0)} ms of processor`,
      `${mib.toFixed(0)} MiB`,
      `waits ${waits[changes / 2]} ms (median), ${waits.at(-1)} ms (worst)`,
    )
  }
}
await queue[Symbol.asyncDispose]()
await Promise.all([pages, filter, store].map((each) => each[Symbol.asyncDispose]()))
for (const end of teardowns) await end()
await rm(folder, { recursive: true, force: true })
