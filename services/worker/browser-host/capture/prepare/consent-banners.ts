import { consentWords } from '#worker/browser-host/blocking/consent-words.ts'
import { hideOverlays, overlayElements } from './overlays.ts'

/**
 * A function that creates the predicates of consent banners: `concerns`, of a text; `asks`, of an element: whether its buttons
 * consent or refuse, and it has no field to fill in.
 */
export const consentPredicates = `() => {
  const [subject, verbs, context] = ${JSON.stringify([
    consentWords.subject,
    consentWords.verbs,
    consentWords.context,
  ])}.map((source) => new RegExp(source, 'iu'))
  const weak = new Set(${JSON.stringify(consentWords.weakLabels)})
  const isWeak = (label) => weak.has(label.replace(/[.!]{1,3}$/u, '').toLowerCase())
  const { shownIn, labelsOf, hasField } = (${overlayElements})()
  const asks = (element, text) => {
    const shown = shownIn(element)
    if (hasField(shown)) return false
    const labels = labelsOf(shown)
    return labels.some((label) => verbs.test(label)) || (context.test(text) && labels.some(isWeak))
  }
  return { concerns: (text) => subject.test(text), asks }
}`

/** See `hideOverlays`: hides the consent banners of a root. */
export const hideBanners = hideOverlays(consentPredicates)
