import type { Format } from '#shared/capture/options.ts'

/** What is captured; the parameters are the service's. */
export type Shot = {
  readonly url?: string
  readonly html?: string
  readonly full_page?: boolean
  readonly block_cookies?: boolean
  readonly block_ads?: boolean
  readonly block_chats?: boolean
  readonly format: Exclude<Format, 'pdf'>
}

/** A picture that was taken; `id` is that of its record, where there is one. */
export type Taken = { readonly bytes: number; readonly id?: string }

/** What takes captures, to be compared with another. */
export type Contender = {
  readonly take: (shot: Shot) => Promise<Taken>
  /** Processor seconds so far, by part. */
  readonly cpu: () => ReadonlyMap<string, number>
}

/** How a number of captures went. */
export type Run = {
  readonly captures: number
  readonly tookMs: number
  readonly bytes: number
  /** Processor milliseconds by part, what still ran after the last capture included. */
  readonly cpuMs: ReadonlyMap<string, number>
}

/** What goes on behind the last answer is over after this. */
const settleMs = 400

/** Takes `count` captures, `atOnce` at a time. */
export const takeMany = async (contender: Contender, shot: Shot, count: number, atOnce: number): Promise<Run> => {
  const before = contender.cpu()
  const began = performance.now()
  let left = count
  let bytes = 0
  const run = async () => {
    while (left > 0) {
      left -= 1
      ;({ bytes } = await contender.take(shot))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  const tookMs = performance.now() - began
  await new Promise((wake) => setTimeout(wake, settleMs))
  const cpuMs = new Map([...contender.cpu()].map(([part, after]) => [part, (after - (before.get(part) ?? 0)) * 1000]))
  return { captures: count, tookMs, bytes, cpuMs }
}

/** Several runs as one. */
export const joinRuns = (runs: readonly Run[]): Run => {
  const cpuMs = new Map<string, number>()
  for (const run of runs) {
    for (const [part, value] of run.cpuMs) cpuMs.set(part, (cpuMs.get(part) ?? 0) + value)
  }
  const sum = (field: 'captures' | 'tookMs') => runs.reduce((total, run) => total + run[field], 0)
  return { captures: sum('captures'), tookMs: sum('tookMs'), bytes: runs.at(-1)?.bytes ?? 0, cpuMs }
}
