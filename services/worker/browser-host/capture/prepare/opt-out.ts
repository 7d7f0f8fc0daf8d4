import { within } from '#shared/process/within.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { framesOf, type PageFrame, runInIsolatedWorld } from '#worker/browser-host/capture/page/world.ts'

/** More than any rule takes. */
const roundsMax = 50
/** As many of the page's own functions are called in one round. */
const snippetsMax = 200
const snippetMs = 500
/** Frames beside the main one in which a banner is looked for, those in the process of the page first. */
const framesMax = 20

type Open = Pick<OpenPage, 'frameSessions' | 'mainFrameId'>
/** A frame that may hold a banner. */
type CandidateFrame = PageFrame & { readonly url: string; readonly isMain: boolean; readonly hasOwnProcess: boolean }
type Answer = { readonly id: string; readonly result: boolean }
type Asked = { readonly id: string; readonly snippet: string }

type ScriptMessages = { readonly asked: readonly Asked[]; readonly isFound: boolean; readonly end: string | undefined }

/** Reads the messages of the script; everything else is dropped. */
const readMessages = (received: unknown): ScriptMessages => {
  const messages = (Array.isArray(received) ? received.slice(0, snippetsMax) : []).filter(
    (each): each is Record<string, unknown> => typeof each === 'object' && each !== null,
  )
  const asked = messages.flatMap(({ id, snippet }) =>
    typeof id === 'string' && id.length <= 100 && typeof snippet === 'string' ? [{ id, snippet }] : [],
  )
  const end = messages.map((each) => each['end']).find((each): each is string => typeof each === 'string')
  return { asked, isFound: messages.some((each) => each['found'] === true), end }
}

/**
 * Runs autoconsent's own functions in the page's world, where its consent platform has its interface; false for what throws.
 * None in a frame that shares the process of the one around it: its world has no name without `Runtime.enable`, which
 * pages can notice, and of the rules for frames one alone has such a function, for a detail.
 */
const runSnippets = async (
  { session, hasOwnProcess }: CandidateFrame,
  script: ConsentScript,
  asked: readonly Asked[],
): Promise<Answer[]> => {
  const known = asked.flatMap(({ id, snippet }) => {
    const text = script.snippet(snippet)
    return text === undefined ? [] : [{ id, text }]
  })
  if (known.length === 0) return []
  if (!hasOwnProcess) return known.map(({ id }) => ({ id, result: false }))
  const calls = known.map(({ text }) => `(() => { try { return !!(${text})() } catch { return false } })()`)
  const { result } = await session.send('Runtime.evaluate', {
    expression: `[${calls.join(',')}]`,
    returnByValue: true,
    timeout: snippetMs,
  })
  const values: unknown = result.value
  return known.map(({ id }, index) => ({ id, result: Array.isArray(values) && values[index] === true }))
}

/** `found` is called once a banner is there, which is about to be clicked through. */
type Observer = { readonly signal: AbortSignal; readonly found: () => void }

/** Resolves where it was clicked through, and throws otherwise. */
const optOutOfFrame = async (
  frame: CandidateFrame,
  script: ConsentScript,
  { signal, found }: Observer,
): Promise<void> => {
  await runInIsolatedWorld(frame, script.scriptFor(frame.url, frame))
  let answers: Answer[] = []
  for (let round = 0; round < roundsMax && !signal.aborted; round += 1) {
    const received = await runInIsolatedWorld(frame, `shutterfleetConsent.next(${JSON.stringify(answers)})`)
    const { asked, isFound, end } = readMessages(received)
    if (isFound) found()
    if (end === 'opted-out') return
    if (end !== undefined || signal.aborted) break
    answers = await runSnippets(frame, script, asked)
  }
  throw new Error('not opted out here')
}

/** The main frame, and those below it that were loaded from somewhere. */
const listFrames = async ({ frameSessions, mainFrameId }: Open): Promise<CandidateFrame[]> => {
  const found = frameSessions().map(async (session): Promise<CandidateFrame[]> => {
    const frames = await framesOf(session).catch(() => [])
    return frames.map(({ id: frameId, url }, index) => {
      return { session, frameId, url, isMain: frameId === mainFrameId, hasOwnProcess: index === 0 }
    })
  })
  const frames = (await Promise.all(found)).flat()
  const below = frames.filter(({ isMain, url }) => !isMain && /^https?:/.test(url))
  return [...frames.filter(({ isMain }) => isMain), ...below.slice(0, framesMax)]
}

/**
 * Opts out of the consent banner that the page shows, itself or in a frame, by the rules of autoconsent, which run in worlds
 * of our own. The host polls such a world for its messages, one response at a time, so the page has no way to send any. The first
 * frame that was clicked through ends it, but not before the main one where that shows a banner too, or `waitMs`; a page that
 * goes away meanwhile, or hangs, is left as it is.
 */
export const optOut = async (open: Open, script: ConsentScript, waitMs: number): Promise<void> => {
  const stop = new AbortController()
  const anywhere = async () => {
    const frames = await listFrames(open)
    let isMainShown = false
    const attempts = frames.map((frame) => {
      const found = () => void (isMainShown ||= frame.isMain)
      return optOutOfFrame(frame, script, { signal: stop.signal, found })
    })
    await Promise.any(attempts)
    // The main frame is the first one.
    if (isMainShown) await attempts[0]
  }
  await within(anywhere(), waitMs, () => new Error('not opted out in time')).catch(() => {})
  stop.abort()
}
