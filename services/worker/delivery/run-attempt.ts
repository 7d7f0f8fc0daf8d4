import { endsBeforeMs, handBacksMax, unendedMax } from '#shared/capture/budget.ts'
import { bytesOfFiles } from '#shared/capture/files.ts'
import { errorToCaptureCode, toAppError } from '#shared/errors/app-error.ts'
import { sealDetails } from '#shared/db/result-seal.ts'
import type { CompletedResult, FailedResult, SealedPart, Timings } from '#shared/queue/messages.ts'
import type { Outcome, Shot } from '#worker/protocol/protocol.ts'
import type { Host } from '#worker/host/steer-host.ts'
import type { EgressLink } from '#worker/lifecycle/egress-link.ts'
import type { Interruption } from '#worker/telemetry/events.ts'
import type { NextAttempt } from './read-progress.ts'
import { ImageUpload, type Store } from './store-image.ts'

/** An attempt that has begun; `endsAt` (on `performance`'s clock) is the end of its budget. */
export type Attempt = NextAttempt & {
  readonly id: string
  readonly sealed: SealedPart
  readonly endsAt: number
  /** The stages before the attempt began. */
  readonly before: Required<Pick<Timings, 'queue' | 'claim'>>
}

/** The result of an attempt; `detail` is for logs. */
export type AttemptResult = { readonly result: CompletedResult | FailedResult; readonly detail?: string }

/**
 * The attempt ended in time with an image that the store did not take. `late`, called after the hand-back, keeps trying while
 * the worker is held, and resolves to the result if the image was stored in the end. Never throws.
 */
export type NotStored = { readonly interruption: Interruption; readonly late: () => Promise<AttemptResult | undefined> }

/** The capture has ended by another run, or was deleted: nobody needs a result. */
export type Closed = { readonly closed: true }

/** How an attempt left its browser: interrupted, or with `finish`, which stores the image, if any, and never throws. */
export type AttemptEnd =
  | { readonly finish: () => Promise<AttemptResult | NotStored | Closed> }
  | { readonly interruption: Interruption }

type Failed = Extract<Outcome, { outcome: 'failed' }>
type Interrupted = Extract<Outcome, { outcome: 'interrupted' }>

/** The failures of a capture that faults of the service have interrupted too often. */
const endings = {
  browser: { code: 'RENDER_ERROR', message: 'The browser ended while it rendered the page.' },
  egress: { code: 'JOB_FAILED', message: 'The connections of the capture broke within the service.' },
  overload: { code: 'JOB_FAILED', message: 'The service had no room for the connections of the capture.' },
  worker: { code: 'JOB_FAILED', message: 'The service stopped running while it made the capture.' },
} as const

/**
 * Judges an attempt that a fault of the service may have interrupted. The first row that matches decides; otherwise the
 * outcome is returned unchanged.
 *
 * | Observed                                               | The attempt                       |
 * |--------------------------------------------------------|-----------------------------------|
 * | egress was down, whatever the outcome of the page      | is handed back                    |
 * | the browser ended after the page had loaded            | is lost; the second time it fails |
 * | the browser ended before, or a connection to egress    | is handed back, three times;      |
 * | … broke or was rejected while egress was up: the page  | then as above                     |
 * | … may have caused it                                   |                                   |
 * | the worker did not run                                 | is handed back, three times; then |
 * |                                                        | … it fails                        |
 */
const judge = (
  outcome: Outcome,
  { attempt, handBacks }: NextAttempt,
  isEgressUp: boolean,
): Interruption | Exclude<Outcome, Interrupted> => {
  if (!isEgressUp) {
    const detail = outcome.outcome === 'interrupted' ? outcome.detail : `egress went away, ${outcome.outcome}`
    return { by: 'egress', detail, fate: { kind: 'handed-back', handBacks } }
  }
  if (outcome.outcome !== 'interrupted') return outcome
  const { by, detail, isLoaded, timings } = outcome
  if ((by !== 'browser' || !isLoaded) && handBacks < handBacksMax) {
    return { by, detail, fate: { kind: 'handed-back', handBacks: handBacks + 1 } }
  }
  // Another attempt would be handed back as often on a machine that is too busy.
  if (by !== 'worker' && attempt < unendedMax) return { by, detail, fate: { kind: 'lost' } }
  const failed = { outcome: 'failed', blame: 'service', detail, timings } as const
  return { ...failed, ...endings[by] }
}

const completedResult = (
  { id, attempt, sealed, before }: Attempt,
  shot: Shot,
  { objectKey, timings }: { objectKey: string; timings: Partial<Timings> },
): CompletedResult => ({
  id,
  attempt,
  token: sealed.token,
  outcome: 'completed',
  objectKey,
  bytes: shot.bytes.byteLength - bytesOfFiles(shot.files),
  sha256: shot.sha256,
  width: shot.width,
  height: shot.height,
  ...(shot.targetStatus !== undefined && { targetStatus: shot.targetStatus }),
  timings: { ...before, ...timings },
  details: sealDetails(sealed.resultKey, id, {
    ...(shot.finalUrl !== undefined && { finalUrl: shot.finalUrl }),
    warnings: [...shot.warnings],
    ...(shot.metadata && { metadata: shot.metadata }),
  }),
  ...(shot.files && { files: [...shot.files] }),
})

/** Runs one attempt until its browser is free for the next capture. The image of an interrupted attempt is not stored. Never throws. */
export const runAttempt = async (
  host: Pick<Host, 'capture'>,
  { egress, store }: { readonly egress: EgressLink; readonly store: Store },
  running: Attempt,
): Promise<AttemptEnd> => {
  const { id, attempt, handBacks, isRepeat, sealed, endsAt, before } = running
  const began = performance.now()
  const total = () => Math.round(performance.now() - began)
  const failed = ({ code, message, blame, timings, detail }: Failed): AttemptResult => {
    const common = { id, attempt, token: sealed.token, outcome: 'failed' } as const
    return {
      result: {
        ...common,
        code,
        details: sealDetails(sealed.resultKey, id, { message }),
        blame,
        timings: { ...before, ...timings, total: total() },
      },
      detail,
    }
  }
  const outages = egress.outages()
  const reported = await host.capture({ id, options: sealed.options, online: true }, endsAt, sealed.targets)
  const hasEgressFailed = reported.outcome === 'interrupted' && reported.by === 'egress'
  const outcome = judge(reported, running, await egress.isUpSince(outages, hasEgressFailed))
  if ('by' in outcome) return { interruption: outcome }
  if (outcome.outcome === 'failed') {
    const end = failed(outcome)
    return { finish: async () => end }
  }
  const { shot, timings } = outcome
  const finish = async (): Promise<AttemptResult | NotStored | Closed> => {
    const storing = performance.now()
    const upload = new ImageUpload(store, { id, image: shot, put: sealed.puts[attempt - 1], isExclusive: !isRepeat })
    const completed = (objectKey: string): AttemptResult => {
      const all = { ...timings, store: Math.round(performance.now() - storing), total: total() }
      return { result: completedResult(running, shot, { objectKey, timings: all }) }
    }
    try {
      const key = await upload.storeBy(endsAt - endsBeforeMs.store)
      if (key !== undefined) return completed(key)
      // A message that arrives after the end of its capture would be handed back without end.
      if (upload.isClosed) return { closed: true }
    } catch (thrown) {
      const error = toAppError(thrown)
      const { publicMessage: message, message: detail, blame } = error
      return failed({ outcome: 'failed', code: errorToCaptureCode(error), message, blame, timings, detail })
    }
    const late = async () => {
      const key = await upload.storeLate()
      return key === undefined ? undefined : completed(key)
    }
    const fate = { kind: 'handed-back', handBacks, objectKeys: upload.doubtfulKeys } as const
    return { interruption: { by: 'store', detail: upload.fault, fate }, late }
  }
  return { finish }
}
