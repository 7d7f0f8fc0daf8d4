import { setTimeout as delay } from 'node:timers/promises'
import { within } from '#shared/process/within.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import { emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import { everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { callOn, createWorld, runInIsolatedWorld, runInMainFrame } from '#worker/browser-host/capture/page/world.ts'

/** Most frames and canvases that get their picture. */
const partsMax = 20

/** Pixels of a picture for each CSS pixel, and most pixels of one picture. */
const pictureScale = 2
const picturePixelsMax = 8_000_000

/** Longest wait, in milliseconds, for the empty document that takes a frame's place, and poll interval. */
const emptyMs = 500
const emptyPollMs = 10

/** Evaluates to the canvases of the page that another context than 2D draws on: print finds them empty. */
const drawnCanvases = `(${everyElement})(document).filter((element) => {
  if (element.localName !== 'canvas' || !element.width || !element.height || !element.checkVisibility()) return false
  try {
    return element.getContext('2d') === null
  } catch {
    return true
  }
}).slice(0, ${partsMax})`

const frameParts = 'iframe, frame, object, embed'

/**
 * Hides what is fixed or sticky, and might lie over a part, or shows it again; with `withFrames` frames too, which the page could read
 * from the picture of a canvas below them.
 */
const hideBars = (withFrames: boolean) => `(() => {
  const parts = '${frameParts}, canvas'
  const bars = (${everyElement})(document).filter((element) => element.matches('${frameParts}') ? ${withFrames} :
    ['fixed', 'sticky'].includes(getComputedStyle(element).position) && !element.matches(parts) && !element.querySelector(parts))
  globalThis.shutterfleetBars = bars.map((element) => [element, element.style.cssText])
  for (const element of bars) (${setStyles})(element, { visibility: 'hidden', transition: 'none' })
})()`
const showBars = `(() => {
  for (const [element, style] of globalThis.shutterfleetBars) element.style.cssText = style
  scrollTo({ top: 0, behavior: 'instant' })
})()`

/** A method of a part: brings it into view; resolves to its height and the viewport's, or to null if there is nothing to see. */
const bringIntoView = `async function () {
  const { height } = this.getBoundingClientRect()
  if (this.clientWidth < 3 || this.clientHeight < 3 || !this.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return null
  this.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' })
  await ${twoFrames}
  return { height: Math.ceil(height), view: innerHeight }
}`

const toBitmap = `(data) => createImageBitmap(new Blob([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], { type: 'image/png' }))`
const draw = `(canvas, bitmap) => {
  canvas.width = bitmap.width
  canvas.height = bitmap.height
  canvas.getContext('2d').drawImage(bitmap, 0, 0)
}`

/** A method of a frame: empties it, with an origin of its own, so that the page cannot read there what another site shows. */
const emptyFrame = `function () {
  this.setAttribute('sandbox', 'allow-scripts')
  this.contentWindow.location.replace('about:blank')
}`

/** An expression of a frame: whether it is empty. */
const isEmpty = `location.href === 'about:blank' && origin === 'null' && document.body !== null`

/** An expression of an empty frame: shows a picture there, so that the frame's styles, and those of print, still hold. */
const showPicture = (data: string) => `(async () => {
  const canvas = document.createElement('canvas')
  ;(${draw})(canvas, await (${toBitmap})('${data}'))
  canvas.style.cssText = 'position:absolute;inset:0;width:100%;height:100%;object-fit:contain;object-position:left top'
  document.body.append(canvas)
})()`

/** A method of a canvas: puts one with its picture in its place. */
const replaceCanvas = `async function (data) {
  const bitmap = await (${toBitmap})(data)
  const picture = this.cloneNode()
  ;(${draw})(picture, bitmap)
  if (String(this.computedStyleMap().get('width')) === 'auto') picture.style.width = getComputedStyle(this).width
  this.replaceWith(picture)
}`

/** Most CSS pixels of the viewport in which a part is shot. */
const heightMax = 8000

/** Heights of a part and of the viewport in CSS pixels. */
type Heights = { readonly height: number; readonly view: number }

/** An element whose picture is laid in, and how. */
type Part = { readonly objectId: string; readonly fill: (data: string) => Promise<unknown> }

/** Longest call of a method, in milliseconds: in a sandboxed document its waits may never end. */
const callMs = 2000

const late = () => new Error('the page did not respond in time')

const callPart = (session: Session, objectId: string, method: string, values: readonly unknown[] = []) =>
  within(callOn(session, objectId, method, values), callMs, late)

/** Shows a picture in the place of a frame. */
const fillFrame = async (session: Session, objectId: string, frameId: string, data: string): Promise<void> => {
  await callPart(session, objectId, emptyFrame)
  const frame = { session, frameId }
  const endsAt = performance.now() + emptyMs
  // The frame comes into the page's process meanwhile.
  while ((await runInIsolatedWorld(frame, isEmpty).catch(() => false)) !== true) {
    if (performance.now() > endsAt) throw late()
    await delay(emptyPollMs)
  }
  await runInIsolatedWorld(frame, showPicture(data))
}

/** The element of a frame of another site; undefined if that lies in such a frame itself, whose picture shows it. */
const findFrame = async (session: Session, frame: Session): Promise<Part | undefined> => {
  const { frameTree } = await frame.send('Page.getFrameTree')
  const { id, parentId = '' } = frameTree.frame
  try {
    const executionContextId = await createWorld({ session, frameId: parentId })
    const { backendNodeId } = await session.send('DOM.getFrameOwner', { frameId: id })
    const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId })
    const { objectId } = object
    return objectId === undefined ? undefined : { objectId, fill: (data) => fillFrame(session, objectId, id, data) }
  } catch {
    return undefined
  }
}

const findCanvases = async ({ session, mainFrameId }: OpenPage): Promise<Part[]> => {
  const contextId = await createWorld({ session, frameId: mainFrameId })
  const { result } = await session.send('Runtime.evaluate', { expression: drawnCanvases, contextId })
  if (result.objectId === undefined) return []
  const { result: properties } = await session.send('Runtime.getProperties', {
    objectId: result.objectId,
    ownProperties: true,
  })
  const canvases = properties.filter(({ name }) => /^\d+$/.test(name))
  return canvases.flatMap(({ value }) => {
    const { objectId } = value ?? {}
    return objectId ? [{ objectId, fill: (data: string) => callPart(session, objectId, replaceCanvas, [data]) }] : []
  })
}

/** Shoots a part that is in view, as PNG in base64. */
const shootPart = async (session: Session, objectId: string): Promise<string> => {
  const { model } = await session.send('DOM.getBoxModel', { objectId })
  const { cssVisualViewport: view } = await session.send('Page.getLayoutMetrics')
  const [lefts, tops] = [0, 1].map((side) => model.content.filter((_, index) => index % 2 === side)) as [
    number[],
    number[],
  ]
  const [x, y] = [Math.min(...lefts), Math.min(...tops)]
  const [width, height] = [Math.max(...lefts) - x, Math.max(...tops) - y]
  const isBeyond = x < 0 || y < 0 || x + width > view.clientWidth || y + height > view.clientHeight
  const scale = Math.min(pictureScale, Math.sqrt(picturePixelsMax / (width * height)))
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    optimizeForSpeed: true,
    captureBeyondViewport: isBeyond,
    clip: { x: x + view.pageX, y: y + view.pageY, width, height, scale },
  })
  return data
}

/** Shoots a part in a viewport as high as itself: of a frame that is higher only what is in view is drawn. */
const shootTall = async (
  { session, emulation }: OpenPage,
  objectId: string,
  { height, view }: Heights,
): Promise<string> => {
  if (height <= view) return await shootPart(session, objectId)
  await emulateSize(session, emulation, Math.min(height, heightMax))
  try {
    await callPart(session, objectId, bringIntoView)
    return await shootPart(session, objectId)
  } finally {
    await emulateSize(session, emulation, view)
  }
}

/** Puts the picture of a part in its place; resolves to whether it is printed now, or has nothing to see. */
const layIn = async (open: OpenPage, { objectId, fill }: Part): Promise<boolean> => {
  try {
    const heights = (await callPart(open.session, objectId, bringIntoView)) as Heights | null
    if (heights) await fill(await shootTall(open, objectId, heights))
    return true
  } catch {
    return false
  }
}

/** Puts in the pictures of parts, in turn; resolves to the number of those that stay empty. */
const layInParts = async (open: OpenPage, parts: readonly Part[], bars: string, endsAt: number): Promise<number> => {
  if (parts.length === 0) return 0
  let left = Math.max(0, parts.length - partsMax)
  await runInMainFrame(open, bars)
  for (const part of parts.slice(0, partsMax)) {
    const leftMs = endsAt - performance.now()
    // A frame that never rests holds up the picture too.
    const isLaidIn = leftMs > 0 && (await within(layIn(open, part), leftMs, late).catch(() => false))
    if (!isLaidIn) left += 1
  }
  await runInMainFrame(open, showBars)
  return left
}

/**
 * Puts their pictures in the place of frames of other sites, and of canvases that print finds empty, until `endsAt` (on
 * `performance`'s clock): Chromium prints only what the page's own process draws. Resolves to the number of those that stay empty.
 */
export const layInPictures = async (open: OpenPage, endsAt: number): Promise<number> => {
  const { session } = open
  const frames = open.frameSessions().slice(1)
  const canvases = await findCanvases(open)
  if (frames.length + canvases.length === 0) return 0
  await session.send('DOM.enable')
  const found = await Promise.all(frames.map((frame) => findFrame(session, frame).catch(() => undefined)))
  const shown = found.filter((each) => each !== undefined)
  const drawingsLeft = await layInParts(open, canvases, hideBars(true), endsAt)
  const framesLeft = await layInParts(open, shown, hideBars(false), endsAt)
  await session.send('DOM.disable')
  return drawingsLeft + framesLeft
}
