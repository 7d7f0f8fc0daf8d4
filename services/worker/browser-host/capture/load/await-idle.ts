import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'

const idleMs = 500
const lookMs = 25

/** Waits until the page has asked for nothing for half a second, or until `endsAt`; gives whether it has. */
export const awaitIdle = async ({ loads }: Pick<OpenPage, 'loads'>, endsAt: number): Promise<boolean> => {
  while (loads.idleMs() < idleMs) {
    if (performance.now() >= endsAt) return false
    await new Promise((wake) => setTimeout(wake, lookMs))
  }
  return true
}
