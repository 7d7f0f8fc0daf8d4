import { setTimeout as delay } from 'node:timers/promises'
import { within } from '#shared/process/within.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import { emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import { everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { standIns } from '#worker/browser-host/capture/page/selectors.ts'
import { callOn, createWorld, runInIsolatedWorld, runInMainFrame } from '#worker/browser-host/capture/page/world.ts'

/** Most frames and canvases that get their picture. */
const partsMax = 20

/** Pixels of a picture for each CSS pixel, and most pixels of one picture. */
const pictureScale = 2
const picturePixelsMax = 8_000_000

/** Longest wait, in milliseconds, for a frame, and for the empty document that takes its place; poll interval. */
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

/** Hides what is fixed or sticky, and might lie over a part. */
const hideBars = `(() => {
  const parts = '${frameParts}, canvas'
  const bars = (${everyElement})(document).filter((element) => ['fixed', 'sticky'].includes(getComputedStyle(element).position) &&
    !element.matches(parts) && !element.querySelector(parts))
  globalThis.shutterfleetBars = bars.map((element) => [element, element.style.cssText])
  for (const element of bars) (${setStyles})(element, { visibility: 'hidden', transition: 'none' })
})()`
const showBars = `(() => {
  for (const [element, style] of globalThis.shutterfleetBars ?? []) element.style.cssText = style
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

/**
 * A function: shows a picture in an element, whose closed shadow root the page cannot read. What another site shows may be on the picture,
 * also on that of a canvas below it. `sheet`: styles of the element that those of the page override.
 */
const showIn = `async (element, data, sheet) => {
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const picture = document.createElement('canvas')
  picture.width = bitmap.width
  picture.height = bitmap.height
  picture.getContext('2d').drawImage(bitmap, 0, 0)
  picture.style.cssText = 'display:block;width:100%;height:100%;object-fit:contain;object-position:left top'
  const root = element.attachShadow({ mode: 'closed' })
  root.adoptedStyleSheets = sheet ? [sheet] : []
  root.append(picture)
}`

/** Address of an empty document, which has an origin of its own in elements that know no sandbox too. */
const emptyAddress = 'data:text/html,'

/** A method of a frame: empties it, with an origin of its own. Returns false, and leaves it, if its element cannot. */
const emptyFrame = `function () {
  if (this.localName === 'frame') this.src = '${emptyAddress}'
  else if (this.localName !== 'iframe') return false
  else {
    this.setAttribute('sandbox', 'allow-scripts')
    this.contentWindow.location.replace('about:blank')
  }
  return true
}`

/** An expression of a frame: whether it is empty. */
const isEmpty = `['about:blank', '${emptyAddress}'].includes(location.href) && origin === 'null' && document.body !== null`

/** An expression of an empty frame: shows a picture there, so that the frame's styles, and those of print, still hold. */
const showInFrame = (data: string) => `(() => {
  const picture = document.createElement('span')
  picture.style.cssText = 'position:absolute;inset:0'
  document.body.append(picture)
  return (${showIn})(picture, '${data}')
})()`

/** A method of a canvas, object or embed: shows its picture in its place, with its styles. It stays, hidden, for what a selector means. */
const replaceElement = `async function (data) {
  const picture = document.createElement('span')
  for (const name of ['class', 'id', 'style']) if (this.hasAttribute(name)) picture.setAttribute(name, this.getAttribute(name))
  const computed = this.computedStyleMap()
  const styles = [...computed].map(([name, value]) => name + ':' + value)
  if (String(computed.get('display')) === 'inline') styles.push('display:inline-block')
  if (String(computed.get('width')) === 'auto') styles.push('width:' + getComputedStyle(this).width)
  if (this.localName !== 'canvas' && String(computed.get('height')) === 'auto') styles.push('height:' + getComputedStyle(this).height)
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(':host{' + styles.join(';') + '}')
  await (${showIn})(picture, data, sheet)
  this.after(picture)
  ;(${setStyles})(this, { display: 'none' })
  ;(globalThis.${standIns} ??= new WeakMap()).set(this, picture)
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
  if ((await callPart(session, objectId, emptyFrame)) === false) {
    await callPart(session, objectId, replaceElement, [data])
    return
  }
  const frame = { session, frameId }
  const endsAt = performance.now() + emptyMs
  // The frame comes into the page's process meanwhile.
  while ((await runInIsolatedWorld(frame, isEmpty).catch(() => false)) !== true) {
    if (performance.now() > endsAt) throw late()
    await delay(emptyPollMs)
  }
  await runInIsolatedWorld(frame, showInFrame(data))
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
    return objectId ? [{ objectId, fill: (data: string) => callPart(session, objectId, replaceElement, [data]) }] : []
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
  endsAt: number,
): Promise<string> => {
  if (height <= view) return await shootPart(session, objectId)
  // Nobody waits for it any more, and the page is printed.
  if (performance.now() >= endsAt) throw late()
  await emulateSize(session, emulation, Math.min(height, heightMax))
  try {
    await callPart(session, objectId, bringIntoView)
    return await shootPart(session, objectId)
  } finally {
    await emulateSize(session, emulation, view)
  }
}

/** Puts the picture of a part in its place; resolves to whether it is printed now, or has nothing to see. */
const layIn = async (open: OpenPage, { objectId, fill }: Part, endsAt: number): Promise<boolean> => {
  try {
    const heights = (await callPart(open.session, objectId, bringIntoView)) as Heights | null
    if (heights) await fill(await shootTall(open, objectId, heights, endsAt))
    return true
  } catch {
    return false
  }
}

/** Puts in the pictures of parts, in turn; resolves to the number of those that stay empty. */
const layInParts = async (open: OpenPage, parts: readonly Part[], endsAt: number): Promise<number> => {
  let left = Math.max(0, parts.length - partsMax)
  await runInMainFrame(open, hideBars)
  for (const part of parts.slice(0, partsMax)) {
    const leftMs = endsAt - performance.now()
    // A frame that never rests holds up the picture too.
    const isLaidIn = leftMs > 0 && (await within(layIn(open, part, endsAt), leftMs, late).catch(() => false))
    if (!isLaidIn) left += 1
  }
  await runInMainFrame(open, showBars)
  return left
}

/**
 * Puts their pictures in the place of frames of other sites, and of canvases that print finds empty, until `endsAt` (on
 * `performance`'s clock): Chromium prints only what the page's own process draws. Resolves to the number of those that stay empty. Throws
 * if the page navigates meanwhile.
 */
export const layInPictures = async (open: OpenPage, endsAt: number): Promise<number> => {
  const { session } = open
  const frames = open.frameSessions().slice(1)
  const canvases = await findCanvases(open)
  if (frames.length + canvases.length === 0) return 0
  await session.send('DOM.enable')
  const find = (frame: Session) => within(findFrame(session, frame), emptyMs, late).catch(() => undefined)
  const found = await Promise.all(frames.map(find))
  const parts = [...canvases, ...found.filter((each) => each !== undefined)]
  const left = parts.length === 0 ? 0 : await layInParts(open, parts, endsAt)
  await session.send('DOM.disable')
  return left
}
