import { setTimeout as delay } from 'node:timers/promises'
import { within } from '#shared/process/within.ts'
import { holdSvgImages } from './hold-svg-images.ts'
import { openRoots } from './open-roots.ts'
import type { OpenPage } from './open-page.ts'
import { twoFrames } from './page-frames.ts'
import { runInEveryRoot, runInLatestDocument } from './world.ts'

/** Most times that animations are finished which finishing others has started, and milliseconds for all of it in a root: the cost of a thousand is seconds. */
const roundsMax = 10
const finishMs = 1000

/** A marquee that moves by as many pixels at once has arrived. */
const marqueePixels = 100_000

/** A root after its animations were finished; `isAlone`: it has no frames, and no elements that may have closed shadow roots. */
type Finished = { readonly hasCanvas: boolean; readonly isAlone: boolean }

/**
 * A function of a root: finishes the animations and transitions of the root and its open shadow roots, and those that this
 * starts, and holds endless ones at their start; an SVG, which has one clock, where the last of its animations ends, else at its
 * start. Those that follow an element through the viewport are held where it is in the middle if `isWhole`. Animations that the
 * page has paused, or that follow the scroll position otherwise, stay. With `holdsImages`, animated images are held at their first
 * frame; the style is inherited. A marquee is held where its text begins.
 * Resolves to a `Finished`.
 */
const finishInRoot = `async function ({ isWhole, holdsImages }) {
  if (holdsImages) this.documentElement?.style.setProperty('image-animation', 'stopped', 'important')
  const roots = (${openRoots})(this)
  for (const marquee of roots.flatMap((root) => [...root.querySelectorAll('marquee')]).slice(0, ${roundsMax})) {
    // One that moves would go on as it began.
    const still = marquee.cloneNode(true)
    Object.assign(still, { behavior: 'slide', loop: 1, scrollAmount: ${marqueePixels} })
    marquee.replaceWith(still)
    await ${twoFrames}
  }
  const endsAt = performance.now() + ${finishMs}
  const finish = (animation) => {
    if (performance.now() > endsAt) return false
    if (animation.playState !== 'running') return false
    if (isWhole && animation.timeline instanceof ViewTimeline) {
      animation.pause()
      animation.currentTime = CSS.percent(50)
      return true
    }
    if (!(animation.timeline instanceof DocumentTimeline)) return false
    const { endTime, delay } = animation.effect.getComputedTiming()
    if (endTime !== Infinity && animation.playbackRate !== 0) animation.finish()
    else {
      animation.pause()
      animation.currentTime = delay
    }
    return true
  }
  const partEnd = (part) => {
    const repeats = part.getAttribute('repeatCount')
    if (repeats === 'indefinite' || part.getAttribute('repeatDur') === 'indefinite') return 0
    try {
      const end = part.getStartTime() + part.getSimpleDuration() * Number(repeats ?? 1)
      return Number.isFinite(end) ? end : 0
    } catch {
      // It has not begun, or has no end.
      return 0
    }
  }
  for (const svg of roots.flatMap((root) => [...root.querySelectorAll('svg')])) {
    if (svg.ownerSVGElement !== null || svg.animationsPaused() || performance.now() > endsAt) continue
    const parts = [...svg.querySelectorAll('animate, animateMotion, animateTransform, set')]
    if (parts.length === 0) continue
    svg.pauseAnimations()
    svg.setCurrentTime(Math.max(...parts.map(partEnd)))
  }
  for (let round = 0; round < ${roundsMax}; round += 1) {
    const finished = roots.flatMap((root) => root.getAnimations()).filter(finish)
    if (finished.length === 0) break
    await ${twoFrames}
  }
  const isShown = (canvas) => canvas.width > 0 && canvas.checkVisibility()
  const mayBeClosed = (element) => element.localName.includes('-') && element.shadowRoot === null
  return {
    hasCanvas: roots.some((root) => [...root.querySelectorAll('canvas')].some(isShown)),
    isAlone: globalThis.length === 0 && !roots.some((root) => [...root.querySelectorAll('*')].some(mayBeClosed)),
  }
}`

/** Longest wait for canvases, and time between two pictures of them. */
const stillMs = 1500
const gapMs = 100

/** Waits until two pictures of the viewport in a row are equal: scripts that draw on a canvas report no animation. */
const awaitStill = async ({ session }: Pick<OpenPage, 'session'>, endsAt: number): Promise<void> => {
  for (let before = ''; performance.now() < endsAt;) {
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'jpeg',
      quality: 50,
      optimizeForSpeed: true,
    })
    if (data === before) return
    before = data
    await delay(gapMs)
  }
}

/**
 * Finishes the page's animations in all frames and shadow roots, and waits for its canvases, for `waitMs` at most. `isWhole`:
 * what is beyond the viewport is shown too.
 */
export const finishAnimations = async (
  open: OpenPage,
  { isWhole, waitMs }: { readonly isWhole: boolean; readonly waitMs: number },
): Promise<void> => {
  const endsAt = performance.now() + waitMs
  const late = () => new Error('the page did not respond in time')
  if (open.loads.svgImages().length > 0) await holdSvgImages(open, waitMs)
  const bounds = JSON.stringify({ isWhole, holdsImages: open.loads.hasAnimatable() })
  const own = (await runInLatestDocument(open, () => `(${finishInRoot}).call(document, ${bounds})`, endsAt)) as
    | Finished
    | undefined
  const everywhere = { isWhole, holdsImages: true }
  const others = own?.isAlone === false ? runInEveryRoot(open, finishInRoot, everywhere) : Promise.resolve([])
  const finished = [own, ...(await within(others, waitMs, late).catch(() => []))] as (Partial<Finished> | undefined)[]
  if (!finished.some((each) => each?.hasCanvas === true)) return
  await within(awaitStill(open, Math.min(endsAt, performance.now() + stillMs)), waitMs, late).catch(() => {})
}
