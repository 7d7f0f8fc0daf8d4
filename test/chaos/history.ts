import { createHash } from 'node:crypto'
import type { CaptureStatus } from './snapshot.ts'

/** A request of the load. `linked-image` is an image by its signed link, without a key. */
export type Operation =
  | 'create'
  | 'capture'
  | 'batch'
  | 'status'
  | 'list'
  | 'image'
  | 'link'
  | 'linked-image'
  | 'delete'
  | 'usage'

/** What a response showed of a capture. */
export type Sight = {
  readonly id: string
  readonly status: CaptureStatus
  readonly fileSize?: number | undefined
  readonly errorCode?: string | undefined
  /** When its retention is over, in monotonic milliseconds. */
  readonly expiresMs?: number | undefined
}

/** A request of a client and its response; `status` is undefined if there was none. Times are monotonic milliseconds. */
export type Exchange = {
  readonly kind: 'exchange'
  readonly operation: Operation
  readonly account: string
  readonly startMs: number
  readonly endMs: number
  readonly status: number | undefined
  /** The capture in the path. */
  readonly target?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly captures: readonly Sight[]
  /** Whether the response is the only page of a list. */
  readonly isWhole?: boolean
  /** Budget of an attempt of the captures that the request created. */
  readonly budgetMs?: number | undefined
  /** Path of the receiver that the request named. */
  readonly webhook?: string | undefined
  /** SHA-256 of the image in the response. */
  readonly imageSha256?: string | undefined
  /** `screenshots_used` of a response to `usage`. */
  readonly used?: number | undefined
  readonly error?: string | undefined
}

/** A webhook request, as its receiver saw it. `answered` is undefined if the receiver closed the connection. */
export type Delivery = {
  readonly kind: 'delivery'
  readonly atMs: number
  readonly path: string
  readonly captureId: string
  readonly bodySha256: string
  readonly answered: number | undefined
}

/** A fault, from its injection to its end. */
export type FaultSpan = {
  readonly kind: 'fault'
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

/** Everything that clients, receivers and the nemesis recorded in one run. */
export type History = readonly (Exchange | Delivery | FaultSpan)[]

/** SHA-256 as hexadecimal digits. */
export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Whether a response is a success. */
export const isSuccess = ({ status }: Pick<Exchange, 'status'>): boolean =>
  status !== undefined && status >= 200 && status < 300
