import { within } from '#shared/process/within.ts'
import { elementsMax, everyElement } from './open-roots.ts'
import type { OpenPage } from './open-page.ts'
import { twoFrames } from './page-frames.ts'
import { runInMainFrame } from './world.ts'

/** Most characters of an image that is held: what is longer is a drawing, seldom animated. */
const charactersMax = 500_000

/** Style of an image that is held. */
const stillStyle = '* { animation-duration: 0s !important; animation-delay: 0s !important }'

/** Whether an SVG may be animated. */
const mayMove = (text: string): boolean =>
  /<(?:\w+:)?(?:animate|set)|animation/.test(text) && !text.includes(stillStyle)

/**
 * A function that shows images of the page, given as pairs of address and text, as they are once their animations have ended, and
 * endless ones without theirs: scripts reach neither these nor their clock. Scripts can read the copies, so an image of another origin
 * stays as it is, and so does one whose copy the page's policy refuses.
 */
const holdImages = `async (images) => {
  const still = (text) => {
    const svg = new DOMParser().parseFromString(text, 'image/svg+xml')
    const parts = [...svg.querySelectorAll('*')].filter(({ localName }) => /^(?:animate|set$)/.test(localName))
    for (const part of parts) {
      const isEndless = ['repeatCount', 'repeatDur'].some((name) => part.getAttribute(name) === 'indefinite')
      const stays = part.getAttribute('fill') === 'freeze' || (part.localName === 'set' && !part.hasAttribute('dur'))
      if (isEndless || !stays) part.remove()
      part.setAttribute('begin', '0s')
      if (part.hasAttribute('dur')) part.setAttribute('dur', '1ms')
    }
    const style = svg.createElementNS('http://www.w3.org/2000/svg', 'style')
    style.textContent = '${stillStyle}'
    svg.documentElement.append(style)
    return 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(svg))
  }
  const elements = (${everyElement})(document).slice(0, ${elementsMax})
  const isReadable = (address) => {
    const { protocol, origin } = new URL(address)
    return protocol === 'data:' || (origin !== 'null' && origin === location.origin)
  }
  for (const [address, text] of images) {
    if (!isReadable(address)) continue
    const copy = still(text)
    const probe = new Image()
    probe.src = copy
    if (!(await probe.decode().then(() => true, () => false))) continue
    for (const element of elements) {
      if (element.localName === 'img' && element.currentSrc === address) {
        for (const source of element.parentElement?.localName === 'picture' ? element.parentElement.querySelectorAll('source') : []) source.remove()
        element.removeAttribute('srcset')
        element.src = copy
        await element.decode().catch(() => {})
      }
      const { backgroundImage } = getComputedStyle(element)
      const named = 'url(' + JSON.stringify(address) + ')'
      if (backgroundImage.includes(named)) {
        element.style.setProperty('background-image', backgroundImage.replaceAll(named, 'url("' + copy.replaceAll("'", '%27') + '")'), 'important')
      }
    }
  }
  await ${twoFrames}
}`

/** Holds the SVG images of the page that may be animated, for `waitMs` at most. */
export const holdSvgImages = async (open: OpenPage, waitMs: number): Promise<void> => {
  const { session, mainFrameId, loads } = open
  const read = async (url: string): Promise<readonly (readonly [string, string])[]> => {
    const { content, base64Encoded } = await session.send('Page.getResourceContent', { frameId: mainFrameId, url })
    const text = base64Encoded ? Buffer.from(content, 'base64').toString() : content
    return text.length <= charactersMax && mayMove(text) ? [[url, text]] : []
  }
  const hold = async () => {
    const found = await Promise.all(loads.svgImages().map(async (url) => read(url).catch(() => [])))
    const images = found.flat()
    if (images.length > 0) await runInMainFrame(open, `(${holdImages})(${JSON.stringify(images)})`)
  }
  await within(hold(), waitMs, () => new Error('the page did not respond in time')).catch(() => {})
}
