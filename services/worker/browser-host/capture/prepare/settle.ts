import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { settleElement, type SettleBounds, settleFullPage, settleViewport } from './page-scripts.ts'
import { runInLatestDocument } from './world.ts'

const scrollMs = 4000
const contentMs = 2000
const lookMs = 20

const scriptFor = (subject: Subject, bounds: SettleBounds): string => {
  if (subject.kind === 'element') return settleElement(subject.selector, bounds)
  return subject.kind === 'full-page' ? settleFullPage(bounds) : settleViewport(bounds)
}

/** Waits for images, fonts and style sheets that are on their way, whoever asked for them, for at most `contentMs`. */
const awaitDrawn = async ({ loads }: Pick<OpenPage, 'loads'>): Promise<void> => {
  const endsAt = performance.now() + contentMs
  while (loads.drawn() > 0 && performance.now() < endsAt) await new Promise((wake) => setTimeout(wake, lookMs))
}

/**
 * Lets the page come to rest before it is shot: lazy content of a full page or an element is scrolled into view, fonts,
 * images and backgrounds are loaded, the document has stopped changing. A page that goes on to another document meanwhile
 * is followed, three times at most, and then shot as it is. Gives the number of images that could not be waited for.
 * Bounded unless the renderer hangs.
 */
export const settle = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document' | 'loads'>,
  subject: Subject,
  heightMax: number,
): Promise<number> => {
  const script = scriptFor(subject, { heightMax, scrollMs, contentMs })
  const undecoded = Number((await runInLatestDocument(open, script)) ?? 0)
  await awaitDrawn(open)
  return undecoded
}
