import { resolve } from 'node:path'
import { eventually } from '#test/helpers/eventually.ts'
import { createKeys } from './create-keys.ts'
import { countCpuByPart } from './engine/cpu-by-part.ts'
import { quantile } from './quantile.ts'
import type { SmallPage } from './small-page.ts'

const program = resolve(import.meta.dirname, '../../bin/shutterfleet')
const doneMs = 300_000

/** How many captures are queued at once, each of the next of so many accounts; `rounds` of ABBA beside as many of one account. */
export type AccountsWorkload = { readonly accounts: number; readonly captures: number; readonly rounds: number }

/** Medians of a queue of one account, and of one of several accounts in turn. */
export type AccountsMeasured = {
  readonly perSecond: { readonly one: number; readonly several: number }
  readonly cpuMs: { readonly one: number; readonly several: number }
}

/** Queues captures of a page, each with the next key, and waits for all. */
export const captureAll = async (
  { system, url }: Pick<SmallPage, 'system' | 'url'>,
  keys: readonly string[],
  captures: number,
): Promise<void> => {
  const ask = async (key: string, path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(system.baseUrl + path, { ...init, headers })
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: { id: string; status: string } }).data
  }
  const body = JSON.stringify({ url, format: 'jpeg', block_cookies: false })
  const keyAt = (index: number) => keys[index % keys.length] ?? ''
  const queued = Array.from({ length: captures }, (_none, index) =>
    ask(keyAt(index), '/v1/screenshots', { method: 'POST', body }),
  )
  for (const [index, { id }] of (await Promise.all(queued)).entries()) {
    const isDone = async () => {
      const { status } = await ask(keyAt(index), `/v1/screenshots/${id}`)
      if (status === 'failed') throw new Error(`capture ${index} failed`)
      return status === 'completed'
    }
    await eventually(isDone, { withinMs: doneMs, what: `capture ${index}` })
  }
}

/** Captures per second, and processor time, of a queue of several accounts in turn beside one of a single account. */
export const measureAccounts = async (
  page: SmallPage,
  { accounts, captures, rounds }: AccountsWorkload,
): Promise<AccountsMeasured> => {
  const keys = await createKeys(program, page.system.dataDir, accounts)
  const sides = { one: keys.slice(0, 1), several: keys }
  using counted = countCpuByPart(page.system.pid)
  const cpuSeconds = () => [...counted.read().values()].reduce((sum, each) => sum + each, 0)
  const perSecond = { one: [] as number[], several: [] as number[] }
  const cpuMs = { one: [] as number[], several: [] as number[] }
  await captureAll(page, sides.one, captures)
  await captureAll(page, sides.several, captures)
  for (let round = 0; round < rounds; round += 1) {
    for (const side of ['one', 'several', 'several', 'one'] as const) {
      const [before, began] = [cpuSeconds(), performance.now()]
      await captureAll(page, sides[side], captures)
      perSecond[side].push(captures / ((performance.now() - began) / 1000))
      cpuMs[side].push(((cpuSeconds() - before) * 1000) / captures)
    }
  }
  const median = ({ one, several }: typeof cpuMs) => ({ one: quantile(one, 0.5), several: quantile(several, 0.5) })
  return { perSecond: median(perSecond), cpuMs: median(cpuMs) }
}
