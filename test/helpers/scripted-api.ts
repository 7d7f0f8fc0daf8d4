import type { KubeApi, Page, WatchEvent, WatchQuery } from '#shared/kube/client.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { asKubeApi } from './object-api.ts'

/** A watch opened by a reflector. */
export type ScriptedWatch = {
  readonly query: WatchQuery
  readonly send: (event: WatchEvent<KubeObject>) => void
  readonly end: () => void
  readonly fail: (error: Error) => void
}

/** An API with scripted responses. */
export type ScriptedApi = {
  readonly api: Pick<KubeApi, 'list' | 'watch'>
  /** Responses to the next lists, in order; a function may throw. Without any, lists reject. */
  readonly lists: (() => Page<KubeObject>)[]
  /** The parameters of each list. */
  readonly listCalls: unknown[]
  /** All watches so far; only the last may be open. */
  readonly watches: ScriptedWatch[]
}

/** Creates an API with scripted responses. */
export const createScriptedApi = (): ScriptedApi => {
  const lists: ScriptedApi['lists'] = []
  const listCalls: unknown[] = []
  const watches: ScriptedWatch[] = []

  const watch = async function* (_of: unknown, query: WatchQuery, signal: AbortSignal, opened?: () => void) {
    opened?.()
    const pending: (WatchEvent<KubeObject> | 'end' | Error)[] = []
    let bell = Promise.withResolvers<void>()
    const push = (next: WatchEvent<KubeObject> | 'end' | Error) => {
      pending.push(next)
      bell.resolve()
    }
    signal.addEventListener('abort', () => push(new Error('aborted')))
    watches.push({ query, send: push, end: () => push('end'), fail: push })
    for (;;) {
      for (const next of pending.splice(0)) {
        if (next === 'end') return
        if (next instanceof Error) throw next
        yield next
      }
      await bell.promise
      bell = Promise.withResolvers()
    }
  }
  const list = async (_of: unknown, query: unknown) => {
    listCalls.push(query)
    const answer = lists.shift()
    if (!answer) throw new Error('no response is scripted')
    return answer()
  }
  return { api: asKubeApi({ list, watch }), lists, listCalls, watches }
}
