import { within } from '#shared/process/within.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import { runInOwnWorld } from './world.ts'

/** More than any rule takes. */
const roundsMax = 50
/** As many of the page's own functions are called in one round. */
const snippetsMax = 200
const snippetMs = 500

type Open = Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>
type Answer = { readonly id: string; readonly result: boolean }
type Asked = { readonly id: string; readonly snippet: string }

/** What the script may say, whatever a page made of it; all else is dropped. */
const readMessages = (said: unknown): { readonly asked: readonly Asked[]; readonly end: string | undefined } => {
  const messages = (Array.isArray(said) ? said.slice(0, snippetsMax) : []).filter(
    (each): each is Record<string, unknown> => typeof each === 'object' && each !== null,
  )
  const asked = messages.flatMap(({ id, snippet }) =>
    typeof id === 'string' && id.length <= 100 && typeof snippet === 'string' ? [{ id, snippet }] : [],
  )
  const end = messages.map((each) => each['end']).find((each): each is string => typeof each === 'string')
  return { asked, end }
}

/** Runs autoconsent's own functions in the page's world, where its consent platform has its interface; false for what throws. */
const runSnippets = async ({ session }: Open, script: ConsentScript, asked: readonly Asked[]): Promise<Answer[]> => {
  const known = asked.flatMap(({ id, snippet }) => {
    const text = script.snippet(snippet)
    return text === undefined ? [] : [{ id, text }]
  })
  if (known.length === 0) return []
  const calls = known.map(({ text }) => `(() => { try { return !!(${text})() } catch { return false } })()`)
  const { result } = await session.send('Runtime.evaluate', {
    expression: `[${calls.join(',')}]`,
    returnByValue: true,
    timeout: snippetMs,
  })
  const values: unknown = result.value
  return known.map(({ id }, index) => ({ id, result: Array.isArray(values) && values[index] === true }))
}

const converse = async (open: Open, script: ConsentScript, endsAt: number): Promise<boolean> => {
  const scriptText = script.scriptFor(open.document.address())
  await runInOwnWorld(open, scriptText)
  let answers: Answer[] = []
  for (let round = 0; round < roundsMax && performance.now() < endsAt; round += 1) {
    const said = await runInOwnWorld(open, `shutterfleetConsent.next(${JSON.stringify(answers)})`)
    const { asked, end } = readMessages(said)
    if (end !== undefined) return end === 'opted-out'
    answers = await runSnippets(open, script, asked)
  }
  return false
}

/**
 * Opts out of the consent banner that the page shows, by the rules of autoconsent, which run in a world of our own. The
 * host asks that world for its messages, one answer at a time, so the page has no way to send any. Whether it was clicked
 * through within `waitMs`; a page that goes away meanwhile, or hangs, was not.
 */
export const optOut = async (open: Open, script: ConsentScript, waitMs: number): Promise<boolean> => {
  const tooLate = () => new Error('not opted out in time')
  return within(converse(open, script, performance.now() + waitMs), waitMs, tooLate).catch(() => false)
}
