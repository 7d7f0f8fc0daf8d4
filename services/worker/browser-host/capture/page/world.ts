import { randomUUID } from 'node:crypto'
import type { Protocol } from 'devtools-protocol'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { OpenPage } from './open-page.ts'
import { followNavigation, type Shown } from './watch-document.ts'

type MainFrame = Pick<OpenPage, 'session' | 'mainFrameId'>

/** A frame and the session of its process. */
export type PageFrame = { readonly session: Session; readonly frameId: string }

const attemptsMax = 3
const worldName = 'shutterfleet'

/** The execution context of a frame's isolated world. */
export const createWorld = async ({ session, frameId }: PageFrame): Promise<number> =>
  (await session.send('Page.createIsolatedWorld', { frameId, worldName })).executionContextId

/** Contexts of isolated worlds by session and frame. They end with their documents, and their numbers are used again in other processes. */
const known = new WeakMap<Session, Map<string, number>>()

/** Value of a global of the isolated worlds, which no page knows: a context that has it is not another one with the same number. */
const mark = randomUUID()

const evaluate = async (session: Session, expression: string, contextId: number, mostMs: number | undefined) => {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    contextId,
    awaitPromise: true,
    returnByValue: true,
    ...(mostMs !== undefined && { timeout: mostMs }),
  })
  if (!exceptionDetails) return result.value as unknown
  const { exception, text } = exceptionDetails
  throw new Error(`injected script: ${exception?.description ?? exception?.value ?? text}`)
}

/** Whether the context has ended, or is another one. */
const isGone = (error: unknown): boolean =>
  String(error).includes('Cannot find context') || String(error).endsWith(`injected script: ${mark}`)

/**
 * Evaluates an expression in an isolated world of a frame, where the page's changes to its globals have no
 * effect. Awaits a promise; the value must be JSON. Throws if the document is replaced meanwhile, or if the expression computes
 * for longer than `mostMs`, if given.
 */
export const runInIsolatedWorld = async (frame: PageFrame, expression: string, mostMs?: number): Promise<unknown> => {
  const { session, frameId } = frame
  const worlds = known.get(session) ?? new Map<string, number>()
  known.set(session, worlds)
  const contextId = worlds.get(frameId)
  if (contextId !== undefined) {
    try {
      return await evaluate(
        session,
        `if (globalThis.${worldName} !== '${mark}') throw '${mark}';\n${expression}`,
        contextId,
        mostMs,
      )
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  const created = await createWorld(frame)
  worlds.set(frameId, created)
  return await evaluate(session, `globalThis.${worldName} = '${mark}';\n${expression}`, created, mostMs)
}

/** `runInIsolatedWorld` for the main frame. */
export const runInMainFrame = ({ session, mainFrameId }: MainFrame, expression: string): Promise<unknown> =>
  runInIsolatedWorld({ session, frameId: mainFrameId }, expression)

/**
 * Evaluates an expression, built for the milliseconds left, as `runInMainFrame` does. If the page navigates meanwhile, retries
 * in the new document, until `endsAt` and three attempts at most; returns undefined if all failed. Throws if the page is
 * closed. Bounded unless the renderer hangs.
 */
export const runInLatestDocument = async (
  open: MainFrame & Shown,
  expressionFor: (leftMs: number) => string,
  endsAt: number,
): Promise<unknown> => {
  for (let attempt = 1; attempt === 1 || (attempt <= attemptsMax && performance.now() < endsAt); attempt += 1) {
    try {
      return await runInMainFrame(open, expressionFor(Math.max(1, endsAt - performance.now())))
    } catch (error) {
      if (!open.session.isOpen()) throw error
      await followNavigation(open, endsAt)
    }
  }
  return undefined
}

/** Most frames of a session that are used. */
const framesMax = 100
type Open = Pick<OpenPage, 'frameSessions'>

/** A document or closed shadow root; `call` runs a function on it in an isolated world. */
export type Root = { readonly call: (functionText: string, argument: unknown) => Promise<unknown> }

type FrameTree = Protocol.Page.FrameTree
type Node = Protocol.DOM.Node

const framesIn = ({ frame, childFrames = [] }: FrameTree): FrameTree['frame'][] => [
  frame,
  ...childFrames.flatMap(framesIn),
]

/** The frames of a session's process, the session's own first; 100 at most. */
export const readFrames = async (session: Session): Promise<FrameTree['frame'][]> => {
  const { frameTree } = await session.send('Page.getFrameTree')
  return framesIn(frameTree).slice(0, framesMax)
}

const closedRootsIn = (node: Node, frameId: string): { backendNodeId: number; frameId: string }[] => [
  ...(node.shadowRootType === 'closed' ? [{ backendNodeId: node.backendNodeId, frameId }] : []),
  ...[...(node.children ?? []), ...(node.shadowRoots ?? [])].flatMap((child) => closedRootsIn(child, frameId)),
  ...(node.contentDocument ? closedRootsIn(node.contentDocument, node.frameId ?? frameId) : []),
]

/** Calls a function on an object of a page with arguments as JSON. Awaits a promise; the value must be JSON. */
export const callOn = async (
  session: Session,
  objectId: string,
  functionText: string,
  values: readonly unknown[],
): Promise<unknown> => {
  const { result, exceptionDetails } = await session.send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: functionText,
    arguments: values.map((value) => ({ value })),
    returnByValue: true,
    awaitPromise: true,
  })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as unknown
}

const listRoots = async (session: Session): Promise<Root[]> => {
  const ids = (await readFrames(session)).map(({ id }) => id)
  const worlds = new Map<string, number>()
  const roots: Root[] = []
  const createRoot = (objectId: string): Root => ({
    call: (text, argument) => callOn(session, objectId, text, [argument]),
  })
  for (const frameId of ids) {
    const contextId = await createWorld({ session, frameId })
    worlds.set(frameId, contextId)
    const { result } = await session.send('Runtime.evaluate', { expression: 'document', contextId })
    if (result.objectId !== undefined) roots.push(createRoot(result.objectId))
  }
  const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true })
  for (const { backendNodeId, frameId } of closedRootsIn(root, ids[0] ?? '')) {
    const executionContextId = worlds.get(frameId)
    if (executionContextId === undefined) continue
    const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId })
    if (object.objectId !== undefined) roots.push(createRoot(object.objectId))
  }
  return roots
}

/**
 * Runs a function on the document of every frame and on every closed shadow root, in all processes, with one JSON argument.
 * `this` is the root; the function must find open shadow roots itself. Omits the result of a root that is removed
 * meanwhile.
 */
export const runInEveryRoot = async (open: Open, functionText: string, argument: unknown): Promise<unknown[]> => {
  const roots = await Promise.all(open.frameSessions().map((session) => listRoots(session).catch(() => [])))
  const results = await Promise.allSettled(roots.flat().map(({ call }) => call(functionText, argument)))
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
