/**
 * Prints the colour of the page's ground on its margins too, if the ground has one besides white and no image: a dark page would get a
 * white frame. Evaluates to the colour of the page's text there, for headers and footers; to null if the margins stay white.
 */
export const paintMargins = `(() => {
  const grounds = [document.documentElement, document.body].filter(Boolean).map((each) => getComputedStyle(each))
  const isBare = ({ backgroundColor, backgroundImage }) => backgroundImage === 'none' && backgroundColor === 'rgba(0, 0, 0, 0)'
  const covers = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    const { scrollHeight } = document.documentElement
    return left <= 0 && top <= 0 && right >= innerWidth && bottom >= Math.max(innerHeight, scrollHeight) - 1
  }
  // What lies over all of the page, as the outermost element of an application does, is its ground too.
  const over = (document.body ? document.elementsFromPoint(0, 0) : []).filter(covers).toReversed().map((each) => getComputedStyle(each))
  const ground = [...grounds, ...over].find((each) => !isBare(each))
  if (!ground || ground.backgroundImage !== 'none') return null
  const { backgroundColor } = ground
  if (backgroundColor === 'rgb(255, 255, 255)' || /rgba|\\//.test(backgroundColor)) return null
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('@page { background-color: ' + backgroundColor + ' }')
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  return getComputedStyle(document.body ?? document.documentElement).color
})()`
