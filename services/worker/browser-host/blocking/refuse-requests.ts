import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { InterceptedRequest } from './blocker.ts'

/** Longest address that is compared; pages control their length. */
const urlCharactersMax = 4096

/** Types of requests as CDP names them, by the names of `block_resources`. */
const resourceTypes = {
  image: 'Image',
  media: 'Media',
  font: 'Font',
  stylesheet: 'Stylesheet',
  script: 'Script',
} as const

/** Whether a text contains the parts of a pattern between its `*`, in this order; it begins and ends with those at the ends. */
const matches = (pattern: string, text: string): boolean => {
  const parts = pattern.split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (parts.length === 1) return text.includes(first)
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at + last.length <= text.length
}

/** Whether a request is one that the caller does not want, never the page itself; undefined if all are wanted. */
export const createRefusal = (
  { resources, patterns }: CapturePlan['refuses'],
  mainFrameId: string,
): ((request: InterceptedRequest) => boolean) | undefined => {
  if (resources.length === 0 && patterns.length === 0) return undefined
  const types = new Set<string>(resources.map((each) => resourceTypes[each]))
  const lowered = patterns.map((pattern) => pattern.toLowerCase())
  return ({ url, resourceType, frameId }) => {
    if (resourceType === 'Document' && frameId === mainFrameId) return false
    const text = url.slice(0, urlCharactersMax).toLowerCase()
    return types.has(resourceType) || lowered.some((pattern) => matches(pattern, text))
  }
}
