import type { Timings } from '#shared/queue/messages.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import type { SizeBounds } from './subject/measure.ts'

/** What a capture needs beside its page and its plan. */
export type CaptureBounds = SizeBounds & {
  readonly traffic: Traffic
  readonly blocker: Blocker
  readonly consentScript: ConsentScript
  /** When the capture must have ended, on `performance`'s clock: what loading leaves of it is for all that follows. */
  readonly endsAt: number
  /** Called once the page has loaded: what fails from here on is not a time-out. */
  readonly loaded: () => void
  /** Takes the milliseconds of each stage as it ends. */
  readonly timed: (stage: keyof Timings, stageMs: number) => void
}

/** Waits for one stage and notes how long it took. */
export const timing =
  ({ timed }: Pick<CaptureBounds, 'timed'>) =>
  async <T>(stage: keyof Timings, work: Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      return await work
    } finally {
      timed(stage, Math.round(performance.now() - began))
    }
  }
