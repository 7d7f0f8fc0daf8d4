import { setTimeout as pause } from 'node:timers/promises'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'

const lookMs = 20

const late = () => new Error('the document did not load in time')

/**
 * Waits for the document to which the page goes at this moment, until its load event or `endsAt` (on `performance`'s clock).
 * Resolves at once where the page goes nowhere.
 */
export const followNavigation = async ({ document }: Pick<OpenPage, 'document'>, endsAt: number): Promise<void> => {
  while (document.isOnItsWay() && performance.now() < endsAt) await pause(lookMs)
  await within(document.loaded(), Math.max(1, endsAt - performance.now()), late).catch(() => {})
}
