import type { Screenshot } from '#client/responses.js'
import { useQueryClient } from '@tanstack/preact-query'
import { useRef, useState } from 'preact/hooks'
import { useEvents } from '#console/api/events.ts'
import { offlineError } from '#console/api/request.ts'
import { useApi } from '#console/api/session.tsx'
import type { Parameters } from './form.ts'

/** A capture of the playground, from its request to its end. */
export type Run =
  | { readonly phase: 'none' | 'sending' }
  | { readonly phase: 'waiting'; readonly id: string; readonly status: string; readonly position?: number }
  | { readonly phase: 'ended'; readonly record: Screenshot }
  | { readonly phase: 'refused'; readonly error: Error }

/** Requests captures and follows them live until their end. */
export const useCaptureRun = () => {
  const api = useApi()
  const client = useQueryClient()
  const [run, setRun] = useState<Run>({ phase: 'none' })
  /** Of the latest request, or its cancellation: what an earlier one gets is not shown. */
  const latest = useRef(0)
  useEvents(run.phase === 'waiting' ? `/v1/screenshots/${run.id}/events` : undefined, {
    status: (content) => {
      if (run.phase === 'waiting') setRun({ phase: 'waiting', id: run.id, ...(content as { status: string }) })
    },
    result: (content) => {
      setRun({ phase: 'ended', record: content as Screenshot })
      void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('/v1/') })
    },
    deleted: () => setRun({ phase: 'none' }),
    lost: () => setRun({ phase: 'refused', error: offlineError() }),
  })
  /** Resolves to the id of the capture, or to undefined if the request is refused. */
  const start = async (parameters: Parameters): Promise<string | undefined> => {
    const own = (latest.current += 1)
    const show = (next: Run) => {
      if (own === latest.current) setRun(next)
    }
    show({ phase: 'sending' })
    try {
      const { data } = await api<{ data: Screenshot }>('/v1/screenshots', { method: 'POST', body: parameters })
      show({ phase: 'waiting', id: data.id, status: data.status })
      return data.id
    } catch (error) {
      show({ phase: 'refused', error: error as Error })
      return undefined
    }
  }
  const stop = () => {
    latest.current += 1
    setRun({ phase: 'none' })
  }
  return { run, start, stop }
}
