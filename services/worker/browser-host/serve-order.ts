import { AppError, errorToCaptureCode } from '#shared/errors/app-error.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Timings } from '#shared/queue/messages.ts'
import { runCapture } from './capture/run-capture.ts'
import { detailOf } from './detail-of.ts'
import type { Forwarder } from './forwarder.ts'
import type { PageSupply } from './page-supply.ts'
import type { Order, Outcome, Report } from './protocol.ts'

type Host = {
  readonly pages: PageSupply
  readonly forwarder: Pick<Forwarder, 'begin'>
  readonly heightMax: number
  /** Resolves once the supervisor has it, or is gone. */
  readonly report: (report: Report) => Promise<void>
}

/** After these the renderer may still be busy with whatever went wrong. */
const spoiling: readonly CaptureErrorCode[] = ['TIMEOUT', 'RENDER_ERROR']

const failed = (thrown: unknown, timings: Partial<Timings>): { code: CaptureErrorCode; outcome: Outcome } => {
  const error =
    thrown instanceof AppError ? thrown : new AppError('RENDER_ERROR', { message: 'browser', cause: thrown })
  const code = errorToCaptureCode(error)
  const outcome = { outcome: 'failed', code, message: error.publicMessage, detail: detailOf(error), timings } as const
  return { code, outcome }
}

/** One try in one page: how it ended, and what is left to be done once that is reported. */
type Tried = {
  /** Undefined where the browser went away under the page, which is not the page's doing. */
  readonly outcome: Outcome | undefined
  readonly giveBack: () => void
}

const tryOrder = async (host: Host, order: Order): Promise<Tried> => {
  const timings: Partial<Timings> = {}
  const began = performance.now()
  const open = await host.pages.take()
  timings.open = Math.round(performance.now() - began)
  const { id, online, options } = order
  using traffic = host.forwarder.begin({ id, online, proxy: options.proxy })
  try {
    const shot = await runCapture(open, options, {
      heightMax: host.heightMax,
      traffic,
      loaded: () => void host.report({ kind: 'loaded', id }),
      timed: (stage, stageMs) => {
        timings[stage] = stageMs
      },
    })
    return { outcome: { outcome: 'completed', shot, timings }, giveBack: () => host.pages.giveBack(open, false) }
  } catch (thrown) {
    const isGone = !open.browser.isConnected()
    const { code, outcome } = failed(thrown, timings)
    const isSpoilt = isGone || spoiling.includes(code)
    return { outcome: isGone ? undefined : outcome, giveBack: () => host.pages.giveBack(open, isSpoilt) }
  }
}

const browserGone = () =>
  failed(new AppError('RENDER_ERROR', { publicMessage: 'The browser ended while it rendered the page.' }), {}).outcome

/** Serves one order and reports how it ended. A browser that is killed from outside is replaced once. */
export const serveOrder = async (host: Host, order: Order): Promise<void> => {
  let tried = await tryOrder(host, order)
  if (!tried.outcome) {
    tried.giveBack()
    tried = await tryOrder(host, order)
  }
  await host.report({ kind: 'ended', id: order.id, outcome: tried.outcome ?? browserGone() })
  tried.giveBack()
}
