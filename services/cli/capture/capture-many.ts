import type { Screenshot } from '#client/responses.js'
import { AppError } from '#shared/errors/app-error.ts'
import { describeError } from '#cli/command/describe-error.ts'
import type { Progress } from '#cli/command/progress.ts'
import type { Captured } from './capture-image.ts'
import type { Address } from './read-addresses.ts'

/** The end of one capture; `file` is where its image is. */
export type Ended = Address &
  (
    | { readonly record: Screenshot; readonly file: string }
    | { readonly error: { readonly code: string; readonly message: string } }
  )

/** Dependencies of `captureMany`. */
export type CaptureManyDeps = {
  readonly capture: (url: string) => Promise<Captured>
  /** Stores an image and returns its file. A failure ends everything, so that no more captures are charged. */
  readonly store: (address: Address, captured: { record: Screenshot; image: Uint8Array }) => Promise<string>
  readonly progressed: (progress: Progress) => void
  /** Called at the end of each capture, in the order of the ends. */
  readonly ended: (end: Ended) => void
  readonly stop: AbortSignal
}

const captureOne = async (deps: CaptureManyDeps, address: Address): Promise<Ended> => {
  const captured = await deps.capture(address.url).catch(describeError)
  if (typeof captured === 'string') return { ...address, error: { code: 'NOT_CAPTURED', message: captured } }
  const { record, image } = captured
  if (!image) return { ...address, error: record.error ?? { code: 'JOB_FAILED', message: '' } }
  return { ...address, record, file: await deps.store(address, { record, image }) }
}

/**
 * Captures all addresses, `concurrency` at a time, and returns how each ended, in the order of the list. Throws the error of
 * `store`; `SERVICE_UNAVAILABLE` if `stop` aborts before the end.
 */
export const captureMany = async (
  deps: CaptureManyDeps,
  addresses: readonly Address[],
  concurrency: number,
): Promise<Ended[]> => {
  const ended: (Ended | undefined)[] = addresses.map(() => undefined)
  const queue = addresses.entries()
  let [done, failed, broken] = [0, 0, false]
  deps.progressed({ done, failed, total: addresses.length })
  const work = async () => {
    // All workers take from the same iterator.
    for (const [index, address] of queue) {
      if (deps.stop.aborted || broken) return
      const end = await captureOne(deps, address)
      if (deps.stop.aborted && 'error' in end) return
      ended[index] = end
      deps.ended(end)
      done += 1
      if ('error' in end) failed += 1
      deps.progressed({ done, failed, total: addresses.length })
    }
  }
  const results = await Promise.allSettled(
    Array.from({ length: concurrency }, () =>
      work().catch((thrown: unknown) => {
        broken = true
        throw thrown
      }),
    ),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
  const captures = ended.filter((each) => each !== undefined)
  if (captures.length === addresses.length) return captures
  const publicMessage = `stopped after ${captures.length} of ${addresses.length} captures`
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage })
}
