import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '#test/helpers/eventually.ts'
import type { OutsideServices } from './outside-services.ts'
import type { Release } from './release.ts'

const everyMs = 200
/** As cheap as a capture can be: two cores serve five a second beside all of a cluster and its rollout. */
const small = { width: 320, height: 200, format: 'jpeg' }
/** One in so many is synchronous. */
const synchronousEvery = 5
const createdMs = 120_000
const endMs = 420_000

/** Requests for captures, five a second until they are finished, none of which is retried. */
export type SteadyCaptures = {
  /** Resolves once as many more have been accepted or answered. */
  readonly more: (count: number) => Promise<void>
  /** Requests no more, and resolves once every capture has ended: how many there were, and what went wrong of requests and captures. */
  readonly finish: () => Promise<{ readonly count: number; readonly failures: readonly string[] }>
}

/** Begins to request captures of pages that differ. */
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
    // Also a synchronous one that has not ended within its wait.
    if (response.status === 202) open.add(response.headers.get('x-screenshot-id') ?? 'a capture without an id')
    answered += 1
  }
  const running = (async () => {
    for (let index = 0; !stop.signal.aborted; index += 1) {
      requests.push(request(index).catch((error: unknown) => failures.push(`request ${index}: ${String(error)}`)))
      await wait(everyMs)
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
      const wanted = answered + count
      await eventually(() => answered >= wanted, { withinMs: createdMs, what: `${count} more requests are answered` })
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
