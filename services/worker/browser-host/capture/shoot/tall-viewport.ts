import { emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { Emulation } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { elementsMax, everyElement } from '#worker/browser-host/capture/page/open-roots.ts'
import { pinLayout, recordLayout } from './pin-layout.ts'

type Open = Pick<OpenPage, 'session' | 'mainFrameId'>

/** The media queries of a page's styles that depend on the height of the viewport. */
const heightQueries = async ({ session }: Open): Promise<string[]> => {
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { medias } = await session.send('CSS.getMediaQueries')
  await session.send('CSS.disable')
  await session.send('DOM.disable')
  return medias.map(({ text }) => text).filter((text) => /height|orientation|aspect-ratio/.test(text))
}

/** Evaluates to the bottom of the page's lowest element in CSS pixels. */
const lowestBottom = `(${everyElement})(document).slice(0, ${elementsMax})
  .reduce((lowest, element) => Math.max(lowest, Math.ceil(element.getBoundingClientRect().bottom + scrollY)), 0)`

/** A viewport that can be made as high as a page. */
export const createTallViewport = (open: Open, emulation: Emulation) => {
  let isRecorded = false
  const record = async () => {
    const queries = JSON.stringify(await heightQueries(open))
    // Zoomed out, as a phone shows a page without a mobile layout, the viewport has another height.
    isRecorded = (await runInMainFrame(open, `(${recordLayout})(${queries})`)) === emulation.height
    return isRecorded
  }
  return {
    /**
     * Makes the viewport `height` CSS pixels high, so that what appears on scrolling appears at once, and keeps the page's layout
     * as it is. Returns false, and leaves the viewport as it was, if the page's styles depend on its height otherwise, or if the
     * page navigates meanwhile.
     */
    grow: async (height: number): Promise<boolean> => {
      try {
        if (!isRecorded && !(await record())) return false
        await emulateSize(open.session, emulation, height)
        if ((await runInMainFrame(open, `(${pinLayout})(${height})`)) === true) return true
      } catch (error) {
        if (!open.session.isOpen()) throw error
      }
      await emulateSize(open.session, emulation)
      return false
    },
    /** Height that the page's elements need in the grown viewport; less than its own if something that hung over has moved. */
    contentHeight: async (): Promise<number> => (await runInMainFrame(open, lowestBottom)) as number,
    /** Gives elements that scripts have made as high as the grown viewport, or a simple part of it, their height before. */
    // Fails if the page navigates meanwhile; it is then shot as it is.
    pinAgain: async (height: number): Promise<void> => {
      await runInMainFrame(open, `(${pinLayout})(${height}, true)`).catch(() => {})
    },
  }
}
