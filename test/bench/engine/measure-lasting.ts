import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { partOf } from '#test/bench/part-of.ts'
import { quantile } from '#test/bench/quantile.ts'
import type { Shot } from './contender.ts'
import { serveSite } from './serve-site.ts'
import { type WarmSystem, startWarmSystem } from './warm-system.ts'

/** How much is measured. */
export type LastingEffort = {
  /** After how many captures in one worker its memory is looked at. */
  readonly looks: readonly number[]
  readonly tallShots: number
  readonly recyclings: number
}

/** What was measured. */
export type Lasting = {
  readonly tall: readonly { readonly format: string; readonly shootAndEncodeMs: number }[]
  readonly memory: readonly { readonly captures: number; readonly bytes: number }[]
  /** Wait for a page, in milliseconds: of captures that follow a replaced browser, and of the others. */
  readonly replaced: number
  readonly kept: number
}

const recycleCaptures = 5
const settleMs = 5000
const workerParts = ['worker', 'browser host', 'Chromium']

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

const measureMemory = async (
  service: WarmSystem,
  url: string,
  looks: readonly number[],
): Promise<Lasting['memory']> => {
  const memory: { captures: number; bytes: number }[] = []
  let done = 0
  for (const captures of looks) {
    for (; done < captures; done += 1) await service.take({ url, format: 'jpeg' })
    await new Promise((wake) => setTimeout(wake, settleMs))
    memory.push({ captures, bytes: workerBytes(service) })
  }
  return memory
}

/** Two callers, so that the next capture always waits: what replacing costs the slot is what it then waits for a page. */
const measureRecycling = async (service: WarmSystem, url: string, recyclings: number) => {
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
  return { replaced: quantile(waits.slice(0, recyclings), 0.5), kept: quantile(waits.slice(recyclings), 0.5) }
}

/** Measures one worker over many captures: very tall pages, its memory, and what replacing its browser costs. */
export const measureLasting = async ({ looks, tallShots, recyclings }: LastingEffort): Promise<Lasting> => {
  await using site = await serveSite()
  const page = `http://${site.httpHost}/15`
  const { tall, memory } = await (async () => {
    await using service = await startWarmSystem(site, 1)
    const lasting = await measureMemory(service, page, looks)
    return { tall: await measureTall(service, `http://${site.httpHost}/tall-16000`, tallShots), memory: lasting }
  })()
  await using service = await startWarmSystem(site, 1, {
    SHUTTERFLEET_WORKER_RECYCLE_CAPTURES: String(recycleCaptures),
  })
  return { tall, memory, ...(await measureRecycling(service, page, recyclings)) }
}
