import { consentWords } from '#worker/browser-host/blocking/consent-words.ts'
import { hideOverlays, overlayElements } from './overlays.ts'

/**
 * A function that creates the predicates of consent banners: `concerns`, of a text; `asks`, of an element: whether its buttons
 * consent or refuse, and it has no field to fill in.
 */
export const consentPredicates = `() => {
  const pattern = (source) => new RegExp(source, 'iu')
  const [subject, verbs, weak, context] = ${JSON.stringify([
    consentWords.subject,
    consentWords.verbs,
    consentWords.weakLabels,
    consentWords.context,
  ])}.map(pattern)
  const { shownIn, labelsOf, hasField } = (${overlayElements})()
  const asks = (element, text) => {
    const shown = shownIn(element)
    if (hasField(shown)) return false
    const labels = labelsOf(shown)
    return labels.some((label) => verbs.test(label)) || (context.test(text) && labels.some((label) => weak.test(label)))
  }
  return { concerns: (text) => subject.test(text), asks }
}`

/** See `hideOverlays`: hides the consent banners of a root. */
export const hideBanners = hideOverlays(consentPredicates)
