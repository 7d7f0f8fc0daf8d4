import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { OpenPage } from './open-page.ts'

/** Runs before the scripts of each document; only the main one of the target's origin gets the items. */
const setItems = (origin: string, storage: CapturePlan['storage']) => `(() => {
  if (globalThis !== globalThis.top || location.origin !== ${JSON.stringify(origin)}) return
  const { local, session } = ${JSON.stringify(storage)}
  for (const [items, into] of [[local, localStorage], [session, sessionStorage]]) {
    for (const [name, value] of Object.entries(items)) into.setItem(name, value)
  }
})()`

/**
 * Lets the target find the caller's items in its storage when it loads. Returns a function to call once it has loaded: later
 * documents then find what the page has made of them.
 */
export const setStorage = async (
  { session }: Pick<OpenPage, 'session'>,
  { source, storage }: Pick<CapturePlan, 'source' | 'storage'>,
): Promise<() => Promise<void>> => {
  const hasItems = Object.values(storage).some((items) => Object.keys(items).length > 0)
  const origin = source.url === undefined ? undefined : URL.parse(source.url)?.origin
  if (!hasItems || origin === undefined) return () => Promise.resolve()
  const { identifier } = await session.send('Page.addScriptToEvaluateOnNewDocument', {
    source: setItems(origin, storage),
    worldName: 'shutterfleet',
  })
  return () => session.send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
}
