import type { Protocol } from 'devtools-protocol'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { OpenPage } from './open-page.ts'
import { followNavigation } from './watch-document.ts'

type Steered = Pick<OpenPage, 'session' | 'mainFrameId'>

/** A frame and the session of its process. */
export type PageFrame = { readonly session: Session; readonly frameId: string }

const triesMax = 3
const worldName = 'shutterfleet'

/**
 * Runs an expression in an isolated world of a frame, so that nothing which the page did to its globals
 * reaches it. Waits for a promise; the value must be JSON. Throws where the document goes away meanwhile.
 */
export const runInIsolatedWorld = async ({ session, frameId }: PageFrame, expression: string): Promise<unknown> => {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName })
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

/** More frames than this are left as they are. */
const framesMax = 100
type Open = Pick<OpenPage, 'frameSessions'>

/** A frame, or a closed shadow root in it, and how to run a function on it in a world of our own beside the page's. */
export type Root = { readonly call: (functionText: string, argument: unknown) => Promise<unknown> }

type FrameTree = Protocol.Page.FrameTree
type Node = Protocol.DOM.Node

const framesIn = ({ frame, childFrames = [] }: FrameTree): FrameTree['frame'][] => [
  frame,
  ...childFrames.flatMap(framesIn),
]

/** The frames that a session drives, its own first. */
export const framesOf = async (session: Session): Promise<FrameTree['frame'][]> => {
  const { frameTree } = await session.send('Page.getFrameTree')
  return framesIn(frameTree).slice(0, framesMax)
}

const closedRootsIn = (node: Node, frameId: string): { backendNodeId: number; frameId: string }[] => [
  ...(node.shadowRootType === 'closed' ? [{ backendNodeId: node.backendNodeId, frameId }] : []),
  ...[...(node.children ?? []), ...(node.shadowRoots ?? [])].flatMap((child) => closedRootsIn(child, frameId)),
  ...(node.contentDocument ? closedRootsIn(node.contentDocument, node.frameId ?? frameId) : []),
]

const callOn = async (session: Session, objectId: string, functionText: string, argument: unknown) => {
  const { result, exceptionDetails } = await session.send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: functionText,
    arguments: [{ value: argument }],
    returnByValue: true,
    awaitPromise: true,
  })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as unknown
}

const rootsOf = async (session: Session): Promise<Root[]> => {
  const ids = (await framesOf(session)).map(({ id }) => id)
  const worlds = new Map<string, number>()
  const roots: Root[] = []
  const rootOf = (objectId: string): Root => ({ call: (text, argument) => callOn(session, objectId, text, argument) })
  for (const frameId of ids) {
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName })
    worlds.set(frameId, contextId)
    const { result } = await session.send('Runtime.evaluate', { expression: 'document', contextId })
    if (result.objectId !== undefined) roots.push(rootOf(result.objectId))
  }
  const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true })
  for (const { backendNodeId, frameId } of closedRootsIn(root, ids[0] ?? '')) {
    const executionContextId = worlds.get(frameId)
    if (executionContextId === undefined) continue
    const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId })
    if (object.objectId !== undefined) roots.push(rootOf(object.objectId))
  }
  return roots
}

/**
 * Runs a function on the document of every frame and on every closed shadow root, whatever process they are in, with one
 * JSON argument. `this` is the root; open shadow roots are the function's to find. A root that goes away meanwhile is
 * left out of the answers.
 */
export const runInEveryRoot = async (open: Open, functionText: string, argument: unknown): Promise<unknown[]> => {
  const roots = await Promise.all(open.frameSessions().map((session) => rootsOf(session).catch(() => [])))
  const answers = await Promise.allSettled(roots.flat().map(({ call }) => call(functionText, argument)))
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}
