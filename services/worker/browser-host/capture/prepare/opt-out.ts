import { within } from '#shared/process/within.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { readFrames, type PageFrame, runInIsolatedWorld } from '#worker/browser-host/capture/page/world.ts'

/** More than any rule takes. */
const roundsMax = 50
/** Most messages of the script that are read in one round. */
const snippetsMax = 200
const snippetMs = 500
/** Most frames that are searched for a banner besides the main one; those in the page's process first. */
const framesMax = 20

type Open = Pick<OpenPage, 'frameSessions' | 'mainFrameId'>
/** A frame that may contain a banner. */
type CandidateFrame = PageFrame & { readonly url: string; readonly isMain: boolean; readonly hasOwnProcess: boolean }
type SnippetResult = { readonly id: string; readonly result: boolean }
type Snippet = { readonly id: string; readonly snippet: string }

type Messages = { readonly calls: readonly Snippet[]; readonly isFound: boolean; readonly end: string | undefined }

/** Reads the messages of the script; drops everything malformed. */
const readMessages = (received: unknown): Messages => {
  const messages = (Array.isArray(received) ? received.slice(0, snippetsMax) : []).filter(
    (each): each is Record<string, unknown> => typeof each === 'object' && each !== null,
  )
  const calls = messages.flatMap(({ id, snippet }) =>
    typeof id === 'string' && id.length <= 100 && typeof snippet === 'string' ? [{ id, snippet }] : [],
  )
  const end = messages.map((each) => each['end']).find((each): each is string => typeof each === 'string')
  return { calls, isFound: messages.some((each) => each['found'] === true), end }
}

/**
 * Runs autoconsent's snippets in the main world, where the consent management platform exposes its API; a snippet that throws
 * yields false. Runs none in a frame that shares its parent's process: the id of its main world requires `Runtime.enable`, which
 * pages can detect, and only one rule for frames has a snippet, which handles a minor detail.
 */
const runSnippets = async (
  { session, hasOwnProcess }: CandidateFrame,
  script: ConsentScript,
  calls: readonly Snippet[],
): Promise<SnippetResult[]> => {
  const known = calls.flatMap(({ id, snippet }) => {
    const text = script.snippet(snippet)
    return text === undefined ? [] : [{ id, text }]
  })
  if (known.length === 0) return []
  if (!hasOwnProcess) return known.map(({ id }) => ({ id, result: false }))
  const expressions = known.map(({ text }) => `(() => { try { return !!(${text})() } catch { return false } })()`)
  const { result } = await session.send('Runtime.evaluate', {
    expression: `[${expressions.join(',')}]`,
    returnByValue: true,
    timeout: snippetMs,
  })
  const values: unknown = result.value
  return known.map(({ id }, index) => ({ id, result: Array.isArray(values) && values[index] === true }))
}

/** `onBannerFound` is called when a banner is detected, before opting out of it. */
type Observer = { readonly signal: AbortSignal; readonly onBannerFound: () => void }

/** Resolves if it opted out of a banner in this frame, throws otherwise. */
const optOutOfFrame = async (
  frame: CandidateFrame,
  script: ConsentScript,
  { signal, onBannerFound }: Observer,
): Promise<void> => {
  await runInIsolatedWorld(frame, script.scriptFor(frame.url, frame))
  let results: SnippetResult[] = []
  for (let round = 0; round < roundsMax && !signal.aborted; round += 1) {
    const received = await runInIsolatedWorld(frame, `shutterfleetConsent.next(${JSON.stringify(results)})`)
    const { calls, isFound, end } = readMessages(received)
    if (isFound) onBannerFound()
    if (end === 'opted-out') return
    if (end !== undefined || signal.aborted) break
    results = await runSnippets(frame, script, calls)
  }
  throw new Error('not opted out here')
}

/** The main frame first, then child frames with an http(s) address. */
const listFrames = async ({ frameSessions, mainFrameId }: Open): Promise<CandidateFrame[]> => {
  const found = frameSessions().map(async (session): Promise<CandidateFrame[]> => {
    const frames = await readFrames(session).catch(() => [])
    return frames.map(({ id: frameId, url }, index) => {
      return { session, frameId, url, isMain: frameId === mainFrameId, hasOwnProcess: index === 0 }
    })
  })
  const frames = (await Promise.all(found)).flat()
  const below = frames.filter(({ isMain, url }) => !isMain && /^https?:/.test(url))
  return [...frames.filter(({ isMain }) => isMain), ...below.slice(0, framesMax)]
}

/**
 * Opts out of the consent banner in the page or one of its frames, by autoconsent's rules, which run in isolated worlds. The host
 * polls these worlds for messages, one response at a time, so the page itself cannot send any. Ends with the first frame that is
 * opted out of, but waits for the main frame if that has a banner too, and for `waitMs` at most. A page that navigates
 * meanwhile, or hangs, is left unchanged.
 */
export const optOut = async (open: Open, script: ConsentScript, waitMs: number): Promise<void> => {
  const stop = new AbortController()
  const anywhere = async () => {
    const frames = await listFrames(open)
    let isMainShown = false
    const attempts = frames.map((frame) => {
      const found = () => void (isMainShown ||= frame.isMain)
      return optOutOfFrame(frame, script, { signal: stop.signal, onBannerFound: found })
    })
    await Promise.any(attempts)
    // The main frame is the first one.
    if (isMainShown) await attempts[0]
  }
  await within(anywhere(), waitMs, () => new Error('not opted out in time')).catch(() => {})
  stop.abort()
}
