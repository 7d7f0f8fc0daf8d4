import { families } from '#test/fixtures/gallery/families.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { assertInstalled, pagePath } from '#test/helpers/gallery.ts'
import { processTree, pssBytes, signalAll } from '#test/helpers/process-tree.ts'
import { partOf } from '#test/bench/part-of.ts'
import { quantile } from '#test/bench/quantile.ts'
import type { Shot } from './contender.ts'
import type { WarmSite, WarmSystem } from './warm-system.ts'

/** How much is measured. */
export type LastingWorkload = {
  /** Numbers of captures after which the memory of a worker is read. */
  readonly readAfter: readonly number[]
  /** How long the service is left alone before each reading. */
  readonly settleMs: number
  readonly format: Shot['format']
  /** Path of a tall page. */
  readonly tall: string
  readonly tallShots: number
  /** How many captures are taken with all blockers, and as many with none. */
  readonly blocked: number
  readonly kills: number
}

type MemoryWorkload = Pick<LastingWorkload, 'readAfter' | 'settleMs' | 'format'>

/** What was measured of one worker. */
export type Lasting = {
  readonly tall: readonly { readonly format: string; readonly shootAndEncodeMs: number }[]
  readonly memory: readonly { readonly captures: number; readonly bytes: number }[]
  /** Milliseconds of a capture with all blockers, and with none. */
  readonly blocked: number
  readonly unblocked: number
  /** Milliseconds from a browser's end to the next capture's. */
  readonly killed: number
}

/** What replacing a browser costs. */
export type Recycling = {
  /** Wait for a page, in milliseconds: of captures that follow a replaced browser, and of the others. */
  readonly replaced: number
  readonly reused: number
}

const recycleCaptures = 5

/** What a service needs for `measureRecycling`: a browser that is replaced after every five captures. */
export const recyclingSettings = { SHUTTERFLEET_WORKER_RECYCLE_CAPTURES: String(recycleCaptures) }

const workerParts = ['worker', 'browser host', 'Chromium']

/** The pages of the gallery. */
export const galleryPages = families.flatMap(({ pages }) => pages)

const plainPage = ({ httpHost }: WarmSite['site']) => `http://${httpHost}/15`

const timingsOf = async ({ take, system }: WarmSystem, shot: Shot): Promise<Record<string, number>> => {
  const { id = '' } = await take(shot)
  return (await system.record(id)).timings ?? {}
}

const workerBytes = ({ system }: WarmSystem): number =>
  processTree(system.pid)
    .filter(({ command }) => workerParts.includes(partOf(command)))
    .reduce((sum, { pid }) => sum + pssBytes(pid), 0)

const measureTall = async (service: WarmSystem, url: string, shots: number): Promise<Lasting['tall']> => {
  const measured: { format: string; shootAndEncodeMs: number }[] = []
  for (const format of ['jpeg', 'png'] as const) {
    const took: number[] = []
    for (let count = 0; count < shots; count += 1) {
      const { shoot = 0, encode = 0 } = await timingsOf(service, { url, full_page: true, format })
      took.push(shoot + encode)
    }
    measured.push({ format, shootAndEncodeMs: quantile(took, 0.5) })
  }
  return measured
}

/** Takes the shots in turn, `atOnce` at a time. */
const measureMemory = async (
  service: WarmSystem,
  shots: readonly Shot[],
  { readAfter, settleMs, atOnce = 1 }: Pick<LastingWorkload, 'readAfter' | 'settleMs'> & { readonly atOnce?: number },
): Promise<Lasting['memory']> => {
  const memory: { captures: number; bytes: number }[] = []
  let begun = 0
  for (const captures of readAfter) {
    const takeRest = async () => {
      while (begun < captures) await service.take(shots[begun++ % shots.length]!)
    }
    await Promise.all(Array.from({ length: atOnce }, takeRest))
    await new Promise((wake) => setTimeout(wake, settleMs))
    memory.push({ captures, bytes: workerBytes(service) })
  }
  return memory
}

const took = async ({ take }: WarmSystem, shot: Shot): Promise<number> => {
  const began = performance.now()
  await take(shot)
  return performance.now() - began
}

/** The page carries nothing to block: what the blockers cost is the difference. */
const measureBlockers = async (service: WarmSystem, url: string, count: number) => {
  const [unblocked, blocked]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < count; turn += 1) {
    for (const [isOn, output] of [
      [false, unblocked],
      [true, blocked],
    ] as const) {
      const blockers = { block_cookies: isOn, block_ads: isOn, block_chats: isOn }
      output.push(await took(service, { url, format: 'jpeg', ...blockers }))
    }
  }
  return { unblocked: quantile(unblocked, 0.5), blocked: quantile(blocked, 0.5) }
}

/** The browser processes; none for a moment while a recycled browser is replaced. */
const browserPids = ({ system }: WarmSystem): number[] =>
  processTree(system.pid)
    .filter(({ command }) => partOf(command) === 'Chromium' && !command.includes('--type='))
    .map(({ pid }) => pid)

const measureKilled = async (service: WarmSystem, url: string, kills: number): Promise<number> => {
  const back: number[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    await took(service, { url, format: 'jpeg' })
    await eventually(() => browserPids(service).length > 0, { what: 'there is no browser to kill' })
    signalAll(browserPids(service), 'SIGKILL')
    back.push(await took(service, { url, format: 'jpeg' }))
  }
  return quantile(back, 0.5)
}

/** Two callers, so that the next capture always waits: what replacing costs the slot is what it then waits for a page. */
export const measureRecycling = async ({ site, service }: WarmSite, recyclings: number): Promise<Recycling> => {
  const url = plainPage(site)
  const shots: Promise<string>[] = []
  let left = recyclings * recycleCaptures
  const call = async () => {
    while (left > 0) {
      left -= 1
      const taken = service.take({ url, format: 'jpeg' }).then(({ id = '' }) => id)
      shots.push(taken)
      await taken
    }
  }
  await Promise.all([call(), call()])
  const records = await Promise.all((await Promise.all(shots)).map((id) => service.system.record(id)))
  const waits = records.map(({ timings = {} }) => timings['open'] ?? 0).toSorted((a, b) => b - a)
  return { replaced: quantile(waits.slice(0, recyclings), 0.5), reused: quantile(waits.slice(recyclings), 0.5) }
}

/** Measures the memory of the workers over captures of the gallery's pages in turn, two at a time. */
export const measurePages = async (
  { site, service }: WarmSite,
  workload: Pick<LastingWorkload, 'readAfter' | 'settleMs'>,
): Promise<Lasting['memory']> => {
  assertInstalled()
  const shared = { format: 'jpeg', timeout: 30 } as const
  const shots = galleryPages.map((page) => {
    const shot = { ...page.parameters, ...shared, url: `http://${site.httpHost}${pagePath(page)}` }
    return shot
  })
  return await measureMemory(service, shots, { ...workload, atOnce: 2 })
}

/** Measures the memory of one worker over many captures, and nothing else. */
export const measureMemoryAlone = ({ site, service }: WarmSite, workload: MemoryWorkload): Promise<Lasting['memory']> =>
  measureMemory(service, [{ url: plainPage(site), format: workload.format }], workload)

/** Measures one worker over many captures: its memory, very tall pages, the blockers, and what a killed browser costs. */
export const measureLasting = async ({ site, service }: WarmSite, workload: LastingWorkload): Promise<Lasting> => {
  const page = plainPage(site)
  const memory = await measureMemory(service, [{ url: page, format: workload.format }], workload)
  const tall = await measureTall(service, `http://${site.httpHost}${workload.tall}`, workload.tallShots)
  const blockers = await measureBlockers(service, page, workload.blocked)
  return { memory, tall, ...blockers, killed: await measureKilled(service, page, workload.kills) }
}
