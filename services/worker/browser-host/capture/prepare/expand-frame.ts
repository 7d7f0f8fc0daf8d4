import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInEveryRoot, runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import { expandFrame } from '#worker/browser-host/capture/shoot/full-page.ts'

/** Size of a frame in CSS pixels. */
export type FrameSize = { readonly width: number; readonly height: number }

/** A function of a root: the height of the content of a document in a frame of this size; 0 for other roots. */
const contentHeight = `function ({ width, height }) {
  const isOfSize = Math.abs(innerWidth - width) <= 1 && Math.abs(innerHeight - height) <= 1
  if (this !== document || globalThis === globalThis.top || !isOfSize) return 0
  return (document.scrollingElement ?? document.documentElement).scrollHeight
}`

/** Makes the frame that is taken for the page, of any site, as high as its content, at most `heightMax`. Returns whether it has grown. */
export const growFrame = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'frameSessions'>,
  frame: FrameSize,
  heightMax: number,
): Promise<boolean> => {
  const heights = (await runInEveryRoot(open, contentHeight, frame)).map(Number)
  const needed = Math.min(heightMax, Math.max(0, ...heights))
  if (!(needed > frame.height + 1)) return false
  await runInMainFrame(open, `(${expandFrame})(${needed})`)
  return true
}
