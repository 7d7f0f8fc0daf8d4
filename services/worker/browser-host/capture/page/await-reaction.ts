import type { OpenPage } from './open-page.ts'
import { awaitUnchanged } from './page-frames.ts'
import { runInLatestDocument } from './world.ts'

/** Time in which scripts react to scrolling that do so at intervals or one after the other: those of libraries are 50 to 200 ms. */
const reactionMs = 250

/** The page itself does not scroll any more. A page without scripts does not react later than in two frames. */
const react = `document.dispatchEvent(new Event('scroll', { bubbles: true })),
  (${awaitUnchanged})(document.scripts.length > 0 ? ${reactionMs} : 0, ${reactionMs})`

/**
 * Lets a page react to its new viewport, which shows all of it: until its scripts have left it unchanged for `reactionMs`, after
 * 1.5 s at most. Resolves to whether it has changed.
 */
export const awaitReaction = async (open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>): Promise<boolean> =>
  // The time bounds the attempts.
  (await runInLatestDocument(open, () => react, performance.now() + reactionMs)) !== false
