import { popupWords } from '#worker/browser-host/blocking/popup-words.ts'
import { findFloat, hideOverlays, overlayElements } from './overlays.ts'

/** Least part of the viewport that a popup covers; an app's banner may be narrow. */
const leastArea = 0.06
/** Most links of a popup: more are a menu or the page itself. */
const linksMax = 12
/** Part of the viewport that an element behind an age gate covers. */
const pageArea = 0.25
/** Fewest characters of the page besides a popup: with less, it is the page itself, such as one to log in. */
const pageCharactersMin = 200

/**
 * A function that creates the predicates of popups, for `hideOverlays`: an overlay that speaks of a newsletter, app, notifications or
 * wall, and has a button about that; neither a menu nor the page itself.
 */
const popupPredicates = `() => {
  const kinds = Object.entries(${JSON.stringify(popupWords)}).map(([name, { subject, labels }]) => ({
    name,
    subject: new RegExp('(?<!\\\\p{L})(?:' + subject + ')', 'iu'),
    labels: new RegExp('(?<!\\\\p{L})(?:' + labels + ')', 'iu'),
  }))
  const { shownIn, labelsOf } = (${overlayElements})()
  const floatOf = ${findFloat}
  const isMenu = (element) =>
    element.closest('nav, header, footer, [role=navigation], [role=banner], [role=search]') !== null ||
    element.querySelector('nav, [role=navigation], [role=search], input[type=search]') !== null
  const covers = (element) => {
    const { width, height, top, left } = element.getBoundingClientRect()
    const [right, bottom] = [Math.min(innerWidth, left + width), Math.min(innerHeight, top + height)]
    return Math.max(0, right - Math.max(0, left)) * Math.max(0, bottom - Math.max(0, top)) / (innerWidth * innerHeight)
  }
  const isPage = (float) => document.body.innerText.length - float.innerText.length < ${pageCharactersMin}
  /** Whether what lies behind a float is a page, however few its words. */
  const hasPage = (float) => [...document.body.querySelectorAll('*')].slice(0, 500).some((each) =>
    !each.contains(float) && !float.contains(each) && !floatOf(each) && covers(each) >= ${pageArea} && (each.innerText ?? '').trim() !== '')
  const asks = (element, text) => {
    const float = floatOf(element)
    if (!float || isMenu(element)) return false
    const isOwn = isPage(float)
    const shown = shownIn(element)
    if (shown.filter((each) => each.matches('a[href]')).length > ${linksMax}) return false
    const labels = labelsOf(shown)
    const area = Math.max(covers(float), ...shownIn(float).slice(0, 50).map(covers))
    return kinds.some(
      ({ name, subject, labels: buttons }) =>
        (!isOwn || (name === 'age' && hasPage(float))) &&
        (name === 'app' || area >= ${leastArea}) && subject.test(text) && labels.some((label) => buttons.test(label)),
    )
  }
  return { concerns: (text) => kinds.some(({ subject }) => subject.test(text)), asks }
}`

/** See `hideOverlays`: hides what asks visitors for something. */
export const hidePopups = hideOverlays(popupPredicates)
