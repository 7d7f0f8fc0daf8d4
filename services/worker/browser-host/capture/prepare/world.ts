import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'

type Steered = Pick<OpenPage, 'session' | 'mainFrameId'>

/**
 * Runs an expression in a world of our own beside the page's, so that nothing which the page did to its globals reaches
 * it. Waits for a promise; the value must be JSON. Throws where the document goes away meanwhile.
 */
export const runInOwnWorld = async (open: Steered, expression: string): Promise<unknown> => {
  const { executionContextId } = await open.session.send('Page.createIsolatedWorld', {
    frameId: open.mainFrameId,
    worldName: 'shutterfleet',
  })
  const { result, exceptionDetails } = await open.session.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails)
    throw new Error(`script of ours: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
  return result.value
}
