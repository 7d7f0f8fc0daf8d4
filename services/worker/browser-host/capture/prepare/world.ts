import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import { followNavigation } from './follow-navigation.ts'

type Steered = Pick<OpenPage, 'session' | 'mainFrameId'>

/** A frame and the session of its process. */
export type PageFrame = { readonly session: Session; readonly frameId: string }

const triesMax = 3

/**
 * Runs an expression in an isolated world of a frame, so that nothing which the page did to its globals
 * reaches it. Waits for a promise; the value must be JSON. Throws where the document goes away meanwhile.
 */
export const runInIsolatedWorld = async ({ session, frameId }: PageFrame, expression: string): Promise<unknown> => {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName: 'shutterfleet' })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails)
    throw new Error(`script of ours: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
  return result.value
}

/** `runInIsolatedWorld` for the main frame. */
export const runInOwnWorld = ({ session, mainFrameId }: Steered, expression: string): Promise<unknown> =>
  runInIsolatedWorld({ session, frameId: mainFrameId }, expression)

/**
 * Runs an expression, made for the milliseconds that are left, as `runInOwnWorld` does. A page that goes on to another document meanwhile is followed until `endsAt`:
 * the expression runs again in that one, three times in all; undefined where none of them stayed. Throws where the page is
 * closed. Bounded unless the renderer hangs.
 */
export const runInLatestDocument = async (
  open: Steered & Pick<OpenPage, 'document'>,
  expressionFor: (leftMs: number) => string,
  endsAt: number,
): Promise<unknown> => {
  for (let tries = 1; tries === 1 || (tries <= triesMax && performance.now() < endsAt); tries += 1) {
    try {
      return await runInOwnWorld(open, expressionFor(Math.max(1, endsAt - performance.now())))
    } catch (error) {
      if (!open.session.isOpen()) throw error
      await followNavigation(open, endsAt)
    }
  }
  return undefined
}
