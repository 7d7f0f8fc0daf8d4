import type { CaptureOptions } from '#shared/capture/options.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import type { PageMetadata } from '#shared/capture/page-metadata.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Refusal } from '#shared/net/refusal.ts'
import type { Timings, Warning } from '#shared/queue/messages.ts'

/** The browsers of a host: which of them waits for captures, and the binary of each that is there. */
export type Browsers = {
  readonly kept: BrowserKind
  readonly binaries: Readonly<Partial<Record<BrowserKind, string>>>
}

/** A user without rights of its own, as which the browsers of one slot run. */
export type BrowserUser = { readonly userId: number; readonly groupId: number }

/** How far a capture may reach: CSS pixels of its height, or of either side of an element, and device pixels in all, before the image is resized. */
export type SizeBounds = { readonly heightMax: number; readonly pixelsMax: number }

/** What a browser host is started with: one JSON text as its only argument. Holds no secret. */
export type HostSettings = {
  readonly browsers: Browsers
  readonly sandbox: boolean
  /** Whether the host has a file tree of its own, in which its modules stay readable. */
  readonly hasOwnFiles: boolean
  /** User to become before Chromium is started; absent: stay who it is. */
  readonly user?: BrowserUser
  /** Folder of compiled block lists. */
  readonly blockLists: string
  /** Certificate store that the browser trusts beside the system's. */
  readonly trust?: string
  /** Whether a browser serves captures of one account only. */
  readonly isOneAccounts: boolean
  readonly recycleCaptures: number
  readonly recycleMs: number
  /** With more memory than this after a capture, host and browser together, the browser is replaced. */
  readonly recycleBytes: number
} & SizeBounds

/** One capture. `online` false cuts it off from egress, for the warm-up, which is of no account. */
export type Order = {
  readonly id: string
  readonly options: CaptureOptions
  readonly online: boolean
  readonly accountId?: string
}

/**
 * An order on its way to the host; `leftMs` of its time are left, and its host is ended soon after. Of the account the host gets only whether it is another than that of the captures before.
 */
export type DueOrder = Omit<Order, 'accountId'> & { readonly leftMs: number; readonly isOtherAccounts: boolean }

/** A connection that the browser wants to make, or that egress has refused. The host answers with its verdict. */
export type ConnectionReview = {
  readonly kind: 'connection'
  readonly number: number
  /** As URLs write it. */
  readonly host: string
  readonly refusal: Refusal | undefined
}

/** File descriptor of a host, on which it speaks with its supervisor. */
export const pipeFd = 4

/** What the supervisor sends to a host. `too-much`: the capture has loaded more than it may. */
export type Message =
  | { readonly kind: 'order'; readonly order: DueOrder }
  | ConnectionReview
  | { readonly kind: 'too-much'; readonly bytesMax: number }

/** An image as the browser's side made it. `width` and `height` are pixels of the image. */
export type Shot = {
  readonly bytes: Uint8Array
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  readonly width: number
  readonly height: number
  readonly mimeType: string
  readonly targetStatus?: number | undefined
  /** Address of the document that was captured; absent for a page without one, and where it is too long for a record. */
  readonly finalUrl?: string | undefined
  readonly warnings: readonly Warning[]
  /** Absent where it was not requested, or could not be read. */
  readonly metadata?: PageMetadata | undefined
}

/** Most bytes of a PDF; a page can make it print without end. */
export const pdfBytesMax = 256 * 2 ** 20

/** Most characters of the texts in an outcome: a page may write, and go to, what is longer. */
export const outcomeCharactersMax = { message: 1000, detail: 4000, finalUrl: 8192 } as const

/** How a capture fails at its deadline. */
export const deadlineFailure = (
  isLoaded: boolean,
  timeoutSeconds: number,
): { readonly code: 'TIMEOUT' | 'RENDER_ERROR'; readonly message: string } =>
  isLoaded
    ? { code: 'RENDER_ERROR', message: 'The page stopped responding after it had loaded.' }
    : { code: 'TIMEOUT', message: `The page did not load within ${timeoutSeconds} s.` }

/** Where a fault of the service was: on the way to egress, in an egress without room for further connections, or in the browser. */
export type Fault = 'egress' | 'overload' | 'browser'

/** How a capture ended on the browser's side. */
export type Outcome = { readonly timings: Partial<Timings> } & (
  | { readonly outcome: 'completed'; readonly shot: Shot }
  | {
      readonly outcome: 'failed'
      readonly code: CaptureErrorCode
      /** For the record. */
      readonly message: string
      /** For logs. */
      readonly detail: string
    }
  /** A fault of the service; the page may be fine. */
  | {
      readonly outcome: 'interrupted'
      readonly by: Fault
      readonly isLoaded: boolean
      readonly detail: string
    }
)

/**
 * What a host reports: the page of a capture is open, has loaded; a capture has ended; whether a connection may be made.
 * Bytes of an image follow the report. Before all that, it sends the listening socket of its browser's connections over Node's
 * own channel, once; `services/worker/host/read-host-report.ts` has the schema.
 */
export type HostReport =
  | { readonly kind: 'verdict'; readonly number: number; readonly isAllowed: boolean }
  | { readonly kind: 'opened' | 'loaded'; readonly id: string }
  | { readonly kind: 'ended'; readonly id: string; readonly outcome: Outcome }
