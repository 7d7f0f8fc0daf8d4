import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { settleElement, type SettleBounds, settleFullPage, settleViewport } from './page-scripts.ts'
import { runInLatestDocument } from './world.ts'

/** Of the time for settling: for scrolling. A half of the rest is for content in view, and as much for what else loads. */
const scrollPart = 1 / 2
const contentPart = 1 / 4
const lookMs = 20

const scriptFor = (subject: Subject, bounds: SettleBounds): string => {
  if (subject.kind === 'element') return settleElement(subject.selector, bounds)
  return subject.kind === 'full-page' ? settleFullPage(bounds) : settleViewport(bounds)
}

/** Waits for images, fonts and style sheets that are on their way, whoever asked for them, for at most `waitMs`. */
const awaitDrawn = async ({ loads }: Pick<OpenPage, 'loads'>, waitMs: number): Promise<void> => {
  const endsAt = performance.now() + waitMs
  while (loads.drawn() > 0 && performance.now() < endsAt) await new Promise((wake) => setTimeout(wake, lookMs))
}

/**
 * Lets the page come to rest before it is shot: lazy content of a full page or an element is scrolled into view, fonts,
 * images and backgrounds are loaded, the document has stopped changing. A page that goes on to another document meanwhile
 * is followed while `waitMs` last, three times at most, and then shot as it is. Gives the number of images that could not be waited for.
 * Bounded unless the renderer hangs.
 */
export const settle = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document' | 'loads'>,
  subject: Subject,
  { heightMax, waitMs }: { readonly heightMax: number; readonly waitMs: number },
): Promise<number> => {
  const endsAt = performance.now() + waitMs
  const script = (leftMs: number) =>
    scriptFor(subject, { heightMax, scrollMs: leftMs * scrollPart, contentMs: leftMs * contentPart })
  const undecoded = Number((await runInLatestDocument(open, script, endsAt)) ?? 0)
  await awaitDrawn(open, waitMs * contentPart)
  return undecoded
}
