import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { eventually } from '#test/helpers/eventually.ts'
import type { OutsideServices } from './outside-services.ts'
import type { Release } from './release.ts'

const everyMs = 400
/** The cheapest capture: two cores serve these in addition to a cluster and its rollout, whose services start meanwhile. */
const small = { width: 320, height: 200, format: 'jpeg' }
/** One in five captures is synchronous. */
const synchronousEvery = 5
const createdMs = 120_000
const endMs = 420_000

/** A load of 2.5 capture requests a second, without retries. */
export type SteadyCaptures = {
  /** Resolves once `count` more requests have succeeded. */
  readonly more: (count: number) => Promise<void>
  /** Stops the load, waits until all captures have ended, and returns their number and all failures of requests and captures. */
  readonly finish: () => Promise<{ readonly count: number; readonly failures: readonly string[] }>
}

/** Starts the load, with a different page for each capture. */
export const captureSteadily = (release: Release, outside: OutsideServices): SteadyCaptures => {
  const stop = new AbortController()
  const open = new Set<string>()
  const failures: string[] = []
  const requests: Promise<unknown>[] = []
  let answered = 0
  const request = async (index: number) => {
    const url = outside.page(`steady?${index}`)
    const isSynchronous = index % synchronousEvery === 0
    const path = isSynchronous ? '/v1/screenshots/capture' : '/v1/screenshots'
    const response = await release.request(path, { url, ...small })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
    // Includes a synchronous capture that did not end within its wait.
    if (response.status === 202) open.add(response.headers.get('x-screenshot-id') ?? 'a capture without an id')
    answered += 1
  }
  const running = (async () => {
    for (let index = 0; !stop.signal.aborted; index += 1) {
      requests.push(request(index).catch((error: unknown) => failures.push(`request ${index}: ${inspect(error)}`)))
      await delay(everyMs)
    }
  })()
  const isOver = async () => {
    for (const id of open) {
      const { status, error } = await release.record(id)
      if (status === 'failed') failures.push(`${id}: ${error?.code}, ${error?.message}`)
      if (status === 'failed' || status === 'completed') open.delete(id)
    }
    return open.size === 0
  }
  return {
    more: async (count) => {
      const target = answered + count
      await eventually(() => answered >= target, { withinMs: createdMs, what: `${count} more requests are answered` })
    },
    finish: async () => {
      stop.abort()
      await running
      await Promise.all(requests)
      await eventually(isOver, { withinMs: endMs, what: 'all captures end' })
      return { count: requests.length, failures }
    },
  }
}
