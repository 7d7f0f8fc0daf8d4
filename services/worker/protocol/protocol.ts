import type { CapturedFile } from '#shared/capture/files.ts'
import type { CaptureOptions } from '#shared/capture/options.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import type { PageMetadata } from '#shared/capture/page-metadata.ts'
import type { Blame, CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Refusal } from '#shared/net/refusal.ts'
import type { Warning } from '#shared/capture/result-details.ts'
import type { Timings } from '#shared/queue/messages.ts'

/** The browsers of a host: the kind that is started ahead, and the binary of each installed kind. */
export type Browsers = {
  readonly prewarmed: BrowserKind
  readonly binaries: Readonly<Partial<Record<BrowserKind, string>>>
}

/** The unprivileged user that the browsers of one host run as. */
export type BrowserUser = { readonly userId: number; readonly groupId: number }

/**
 * Longest start of a browser, at which a browser host gives up by itself. The worker gives up sooner: a start at a bound that
 * grows with each failure, an order that has no page yet at `openMs`.
 */
export const longestStartMs = 240_000

/** Largest capture before resizing: CSS pixels of its height, or of either side of an element, and device pixels in total. */
export type SizeBounds = { readonly heightMax: number; readonly pixelsMax: number }

/** Start settings of a browser host, passed as JSON in its only argument. Contains no secret. */
export type HostSettings = {
  readonly browsers: Browsers
  /** Kinds whose isolation of sites another host has checked. */
  readonly checked: readonly BrowserKind[]
  readonly sandbox: boolean
  /** Whether the host has its own file tree, in which its modules stay readable. */
  readonly hasOwnFiles: boolean
  /** User to switch to before starting Chromium; absent: no switch. */
  readonly user?: BrowserUser
  /** Folder of compiled block lists. */
  readonly blockLists: string
  /** Configuration of fontconfig. */
  readonly fonts: string
  /** Certificate store that the browser trusts in addition to the system's. */
  readonly trust?: string
  readonly recycleCaptures: number
  readonly recycleMs: number
  /** The browser is replaced if it and the host together use more memory than this after a capture. */
  readonly recycleBytes: number
} & SizeBounds

/** One capture, without its account. `online` is false for the warm-up, which has no egress. */
export type Order = { readonly id: string; readonly options: CaptureOptions; readonly online: boolean }

/** An order as sent to the host, which is killed soon after `leftMs`. */
export type DueOrder = Order & { readonly leftMs: number }

/** A connection that the browser requests, or that egress has refused. The host responds with a verdict. */
export type ConnectionReview = {
  readonly kind: 'connection'
  readonly number: number
  /** As in URLs. */
  readonly host: string
  readonly refusal: Refusal | undefined
}

/** File descriptor of the host's pipe to its supervisor. */
export const pipeFd = 4

/**
 * What the supervisor sends to a host. `byte-limit-exceeded`: the capture has loaded more than `bytesMax`; the host responds
 * with a verdict, as to a review.
 */
export type Message =
  | { readonly kind: 'order'; readonly order: DueOrder }
  | ConnectionReview
  | { readonly kind: 'byte-limit-exceeded'; readonly number: number; readonly bytesMax: number }

/** The result of a capture. `width` and `height` are in pixels of the image. */
export type Shot = {
  /** The image, and behind it the files. */
  readonly bytes: Uint8Array
  /** Absent: none. */
  readonly files?: readonly CapturedFile[] | undefined
  /** Of the image, in hexadecimal. */
  readonly sha256: string
  readonly width: number
  readonly height: number
  readonly mimeType: string
  readonly targetStatus?: number | undefined
  /** Address of the captured document; absent if it is not http(s), or too long for a record. */
  readonly finalUrl?: string | undefined
  readonly warnings: readonly Warning[]
  /** Absent if it was not requested, or could not be read. */
  readonly metadata?: PageMetadata | undefined
}

/** Largest PDF; a page can make printing endless. */
export const pdfBytesMax = 256 * 2 ** 20

/** Most characters of the texts in an outcome; messages and addresses come from pages, at any length. */
export const outcomeCharactersMax = { message: 1000, detail: 4000, finalUrl: 8192 } as const

const unresponsive = 'The page stopped responding after it had loaded.'

/** The error of a capture that reaches its deadline. */
export const deadlineFailure = (
  isLoaded: boolean,
  timeoutSeconds: number,
): { readonly code: 'TIMEOUT' | 'RENDER_ERROR'; readonly message: string; readonly blame: 'target' } =>
  isLoaded
    ? { code: 'RENDER_ERROR', message: unresponsive, blame: 'target' }
    : { code: 'TIMEOUT', message: `The page did not load within ${timeoutSeconds} s.`, blame: 'target' }

/** Origin of a service fault: the connection to egress, an egress at its connection limit, the browser, or a worker that did not run. */
export type Fault = 'egress' | 'overload' | 'browser' | 'worker'

/** How a capture ended in the browser host. */
export type Outcome = { readonly timings: Partial<Timings> } & (
  | { readonly outcome: 'completed'; readonly shot: Shot }
  | {
      readonly outcome: 'failed'
      readonly code: CaptureErrorCode
      readonly blame: Blame
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

/** Part of a capture's timeout from which on a stall may have decided that it was reached. */
const excusedPart = 1 / 5

/** For how long a process that judges a capture did not run. */
type Stall = { readonly stalledMs: number; readonly timeoutSeconds: number; readonly isLoaded: boolean }

/**
 * The outcome of a capture during which a process that judges it stalled. If that took a fifth of the timeout, the page had less time
 * than it should, so that a deadline which it missed is not its failure; what was found in the page stands.
 */
export const excuseStalls = (outcome: Outcome, { stalledMs, timeoutSeconds, isLoaded }: Stall): Outcome => {
  if (outcome.outcome !== 'failed' || stalledMs < timeoutSeconds * 1000 * excusedPart) return outcome
  if (outcome.code !== 'TIMEOUT' && outcome.message !== unresponsive) return outcome
  const detail = `did not run for ${stalledMs} ms, then ${outcome.code}`
  return { outcome: 'interrupted', by: 'worker', isLoaded, detail, timings: outcome.timings }
}

/**
 * What a host reports: the page of a capture is open or has loaded; a capture has ended; whether a connection is allowed.
 * The bytes of an image follow the JSON. Before any report, the host passes the socket that listens for the browser's
 * connections over Node's IPC channel, once. `services/worker/host/read-host-report.ts` contains the schema.
 */
export type HostReport =
  | { readonly kind: 'verdict'; readonly number: number; readonly isAllowed: boolean }
  | { readonly kind: 'opened' | 'loaded'; readonly id: string }
  | { readonly kind: 'ended'; readonly id: string; readonly outcome: Outcome }
