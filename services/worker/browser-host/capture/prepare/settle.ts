import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { settleElement, type SettleBounds, settleFullPage, settleViewport } from './page-scripts.ts'
import { runInLatestDocument } from './world.ts'

const scrollMs = 4000
const contentMs = 2000

const scriptFor = (subject: Subject, bounds: SettleBounds): string => {
  if (subject.kind === 'element') return settleElement(subject.selector, bounds)
  return subject.kind === 'full-page' ? settleFullPage(bounds) : settleViewport(bounds)
}

/**
 * Lets the page come to rest before it is shot: lazy content of a full page or an element is scrolled into view, fonts are loaded,
 * images decoded. A page that goes on to another document meanwhile is followed, three times at most, and then shot
 * as it is. Gives the number of images that could not be waited for. Bounded unless the renderer hangs.
 */
export const settle = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>,
  subject: Subject,
  heightMax: number,
): Promise<number> => {
  const script = scriptFor(subject, { heightMax, scrollMs, contentMs })
  return Number((await runInLatestDocument(open, script)) ?? 0)
}
