import { createHash } from 'node:crypto'
import type { CaptureStatus } from './snapshot.ts'

/** A request of the load. `linked-image` is an image by its signed link, `render` one by a link that captures, both without a key; `end` ends a credential. */
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
  | 'render'
  | 'file'
  | 'account'
  | 'key'
  | 'end'

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
  /** Names of the outputs and renditions that the request named, or of the one in the path. */
  readonly files?: readonly string[] | undefined
  /** SHA-256 of the output or rendition in the response. */
  readonly fileSha256?: string | undefined
  /** The link that captures on demand. */
  readonly link?: string | undefined
  /** Name of the session or further key that authorized the request; undefined: one of the account's first keys. */
  readonly credential?: string | undefined
  /** The credential that the request ends. */
  readonly ends?: string | undefined
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

/** A whole object that a bucket of a caller received, and the status of its response. */
export type Upload = {
  readonly kind: 'upload'
  readonly atMs: number
  readonly captureId: string
  readonly key: string
  readonly sha256: string
  readonly answered: number
}

/** A page that a browser of the first cell loaded. */
export type PageLoad = { readonly kind: 'load'; readonly atMs: number; readonly path: string }

/** A pause of the pool, from its request until it was lifted. Between the two others it was reported as drained; undefined: it never was. */
export type Pause = {
  readonly kind: 'pause'
  readonly startMs: number
  readonly drainedMs: number | undefined
  readonly heldUntilMs: number
  readonly endMs: number
}

/** One recorded event. */
export type Event = Exchange | Delivery | FaultSpan | Upload | PageLoad | Pause

/** Everything that clients, receivers and the nemesis recorded in one run. */
export type History = readonly Event[]

/** SHA-256 as hexadecimal digits. */
export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Whether a response is a success. */
export const isSuccess = ({ status }: Pick<Exchange, 'status'>): boolean =>
  status !== undefined && status >= 200 && status < 300
