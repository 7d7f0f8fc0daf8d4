import { AppError, errorToCaptureCode } from '#shared/errors/app-error.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Timings } from '#shared/queue/messages.ts'
import { describeError } from '#worker/describe-error.ts'
import { runCapture } from './capture/run-capture.ts'
import type { Forwarder } from './forwarder.ts'
import type { PageSupply } from './page-supply.ts'
import type { Order, Outcome, Report } from './protocol.ts'

type Host = {
  readonly pages: PageSupply
  readonly forwarder: Pick<Forwarder, 'begin'>
  readonly heightMax: number
  readonly report: (report: Report) => void
}

/** After these the renderer may still be busy with whatever went wrong. */
const spoiling: readonly CaptureErrorCode[] = ['TIMEOUT', 'RENDER_ERROR']

const failed = (thrown: unknown, timings: Partial<Timings>): Outcome => {
  const error =
    thrown instanceof AppError ? thrown : new AppError('RENDER_ERROR', { message: 'browser', cause: thrown })
  return {
    outcome: 'failed',
    code: errorToCaptureCode(error),
    message: error.publicMessage,
    detail: describeError(error),
    timings,
  }
}

/** One try in one page. Undefined where the browser went away under it, which is not the page's doing. */
const tryOrder = async (host: Host, order: Order): Promise<Outcome | undefined> => {
  const timings: Partial<Timings> = {}
  const began = performance.now()
  const open = await host.pages.take()
  timings.open = Math.round(performance.now() - began)
  using traffic = host.forwarder.begin(order)
  try {
    const shot = await runCapture(open, order.options, {
      heightMax: host.heightMax,
      traffic,
      loaded: () => {
        host.report({ kind: 'loaded', id: order.id })
        host.pages.openAhead()
      },
      timed: (stage, stageMs) => {
        timings[stage] = stageMs
      },
    })
    host.pages.giveBack(open, false)
    return { outcome: 'completed', shot, timings }
  } catch (thrown) {
    const isGone = open.context.browser()?.isConnected() !== true
    const outcome = failed(thrown, timings)
    host.pages.giveBack(open, isGone || (outcome.outcome === 'failed' && spoiling.includes(outcome.code)))
    return isGone ? undefined : outcome
  }
}

/** Serves one order and reports how it ended. A browser that is killed from outside is replaced once. */
export const serveOrder = async (host: Host, order: Order): Promise<void> => {
  const outcome =
    (await tryOrder(host, order)) ??
    (await tryOrder(host, order)) ??
    failed(new AppError('RENDER_ERROR', { publicMessage: 'The browser ended while it rendered the page.' }), {})
  host.report({ kind: 'ended', id: order.id, outcome })
}
