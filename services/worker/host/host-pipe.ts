import type { Duplex } from 'node:stream'
import { readFrames, writeFrame } from '#worker/browser-host/frames.ts'
import type { DueOrder, HostReport, Message, Outcome } from '#worker/browser-host/protocol.ts'
import type { TrafficBounds, TrafficOwner } from '#worker/network/capture-traffic.ts'
import { readHostReport } from './read-host-report.ts'

/** More than any report has in its JSON: 16,384 characters of metadata, twenty warnings and an address. */
const textBytesMax = 1_048_576

/** The stage in which a report is due. */
const before = { opened: 'ordered', loaded: 'opened' } as const

/** What happens to an order before it ends. */
export type OrderEvents = { readonly opened: () => void; readonly loaded: () => void }

/** The conversation with a browser host, which a page may have taken over. */
export type HostPipe = TrafficOwner & {
  /** Sends an order, one at a time. Resolves to how it ended; never where the host is gone. */
  readonly order: (order: DueOrder, events: OrderEvents) => Promise<Outcome>
}

type Running = {
  readonly id: string
  readonly events: OrderEvents
  readonly end: (outcome: Outcome) => void
  /** Reviews that were requested before the order, which a host answers before it reports anything of it. */
  readonly reviewsBefore: number
  stage: 'ordered' | 'opened' | 'loaded'
}

/**
 * Speaks with a host by `pipe`. Each report must be one that is due: `opened`, `loaded` and `ended` of the order that runs, once
 * and in that order, and the verdict on the oldest connection that waits for one. Whatever else comes, or is longer than
 * an image of `bytesMax`, closes the pipe and calls `broken` once: so a host cannot report more often than it is asked.
 */
export const openHostPipe = (
  pipe: Duplex,
  { imageBytesMax, loadBytesMax }: { readonly imageBytesMax: number; readonly loadBytesMax: TrafficBounds['bytesMax'] },
  broken: (reason: string) => void,
): HostPipe => {
  const waiting = new Map<number, (isAllowed: boolean) => void>()
  let reviews = 0
  let running: Running | undefined

  const send = (message: Message) => void writeFrame(pipe, message)
  const oldest = (): number | undefined => waiting.keys().next().value
  const takeVerdict = (number: number, isAllowed: boolean) => {
    if (number !== oldest()) throw new Error('a verdict that is not due')
    waiting.get(number)?.(isAllowed)
    waiting.delete(number)
  }
  const takeOf = (report: Exclude<HostReport, { kind: 'verdict' }>) => {
    const { kind } = report
    const isDue = kind === 'ended' || running?.stage === before[kind]
    if (running?.id !== report.id || !isDue) throw new Error(`'${kind}' of a capture of which it is not due`)
    if ((oldest() ?? Infinity) <= running.reviewsBefore) throw new Error('a verdict is missing')
    if (kind === 'ended') {
      const { end } = running
      running = undefined
      end(report.outcome)
    } else {
      running.stage = kind
      running.events[kind]()
    }
  }
  readFrames(
    pipe,
    { textBytesMax, bytesMax: imageBytesMax },
    {
      take: (text, bytes) => {
        const report = readHostReport(text, bytes)
        if (report.kind === 'verdict') takeVerdict(report.number, report.isAllowed)
        else takeOf(report)
      },
      broken,
    },
  )
  // A pipe that has ended closes.
  pipe.on('error', () => {})
  return {
    order: (order, events) =>
      new Promise((end) => {
        running = { id: order.id, events, end, reviewsBefore: reviews, stage: 'ordered' }
        send({ kind: 'order', order })
      }),
    review: (host, refusal) =>
      new Promise((resolve) => {
        reviews += 1
        waiting.set(reviews, resolve)
        send({ kind: 'connection', number: reviews, host, refusal })
      }),
    tooMuch: () => send({ kind: 'too-much', bytesMax: loadBytesMax }),
  }
}
