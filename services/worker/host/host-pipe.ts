import type { Duplex } from 'node:stream'
import { readFrames, writeFrame } from '#worker/protocol/frames.ts'
import type { DueOrder, HostReport, Message, Outcome } from '#worker/protocol/protocol.ts'
import type { TrafficBounds, TrafficOwner } from '#worker/network/capture-traffic.ts'
import { readHostReport } from './read-host-report.ts'

/** Larger than the JSON of any report: 16,384 characters of metadata, eleven files, twenty warnings and a URL. */
const textBytesMax = 1_048_576

/** The stage of the order in which a report is expected. */
const before = { opened: 'ordered', loaded: 'opened' } as const

/** Callbacks for the stages of an order before its end. */
export type OrderEvents = { readonly opened: () => void; readonly loaded: () => void }

/** The connection to a browser host, which is not trusted, since a page may have compromised it. */
export type HostPipe = TrafficOwner & {
  /** Sends an order, one at a time. Resolves to its outcome; never settles if the host has ended. */
  readonly order: (order: DueOrder, events: OrderEvents) => Promise<Outcome>
}

type Running = {
  readonly id: string
  readonly events: OrderEvents
  readonly end: (outcome: Outcome) => void
  /** Number of the last review requested before the order; the host must answer it before it reports on the order. */
  readonly reviewsBefore: number
  stage: 'ordered' | 'opened' | 'loaded'
}

/**
 * Exchanges messages with a host over `pipe`. Accepts only expected reports: `opened`, `loaded` and `ended` of the running
 * order, once each and in that sequence, and the verdict on the oldest connection under review. Any other report, or an image
 * of more than `imageBytesMax`, closes the pipe and calls `broken` once, so that a host cannot flood the worker.
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
  /** Sends a message to which the host responds with a verdict. */
  const request = (createMessage: (number: number) => Message) =>
    new Promise<boolean>((resolve) => {
      reviews += 1
      waiting.set(reviews, resolve)
      send(createMessage(reviews))
    })
  const oldest = (): number | undefined => waiting.keys().next().value
  const takeVerdict = (number: number, isAllowed: boolean) => {
    if (number !== oldest()) throw new Error('a verdict that is not due')
    waiting.get(number)?.(isAllowed)
    waiting.delete(number)
  }
  const takeReport = (report: Exclude<HostReport, { kind: 'verdict' }>) => {
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
        else takeReport(report)
      },
      broken,
    },
  )
  // Errors are ignored here: the pipe closes after one.
  pipe.on('error', () => {})
  return {
    order: (order, events) =>
      new Promise((end) => {
        running = { id: order.id, events, end, reviewsBefore: reviews, stage: 'ordered' }
        send({ kind: 'order', order })
      }),
    review: (host, refusal) => request((number) => ({ kind: 'connection', number, host, refusal })),
    recordByteLimit: () => request((number) => ({ kind: 'byte-limit-exceeded', number, bytesMax: loadBytesMax })),
  }
}
