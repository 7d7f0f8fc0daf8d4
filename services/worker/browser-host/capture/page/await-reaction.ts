import { within } from '#shared/process/within.ts'
import type { OpenPage } from './open-page.ts'
import { awaitUnchanged } from './page-frames.ts'
import { runInLatestDocument } from './world.ts'

/** Time in which scripts react to scrolling that do so at intervals or one after the other: those of libraries are 50 to 200 ms. */
const reactionMs = 250

/** Whether scripts of the page listen to scrolling, or to the size of the window. */
const listensToScrolling = async ({ session }: Pick<OpenPage, 'session'>): Promise<boolean> => {
  const listenersOf = async (expression: 'window' | 'document') => {
    // Listeners are listed for the world in which the object is evaluated.
    const { result } = await session.send('Runtime.evaluate', { expression, objectGroup: 'listeners' })
    if (result.objectId === undefined) return []
    return (await session.send('DOMDebugger.getEventListeners', { objectId: result.objectId })).listeners
  }
  const listeners = [...(await listenersOf('window')), ...(await listenersOf('document'))]
  await session.send('Runtime.releaseObjectGroup', { objectGroup: 'listeners' })
  return listeners.some(({ type }) => type === 'resize' || type === 'scroll')
}

/**
 * Lets a page react to its new viewport, which shows all of it: until it is unchanged for `reactionMs`, which starts with two
 * frames if no script listens to scrolling. Resolves to whether it has changed.
 */
export const awaitReaction = async (open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>): Promise<boolean> => {
  const late = () => new Error('the listeners could not be listed in time')
  // A page that navigates meanwhile, or has thousands of listeners, is taken for one that listens.
  const listens = await within(listensToScrolling(open), reactionMs, late).catch(() => true)
  const leastMs = listens ? reactionMs : 0
  // The page itself does not scroll any more.
  const scrolled = "document.dispatchEvent(new Event('scroll', { bubbles: true }))"
  const expression = () => `${scrolled}, (${awaitUnchanged})(${leastMs}, ${reactionMs})`
  // Bounds the attempts; the wait itself ends after 1.5 s.
  return (await runInLatestDocument(open, expression, performance.now() + reactionMs)) !== false
}
