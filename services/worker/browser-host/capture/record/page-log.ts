import { readProductVersion } from '#shared/config/product-version.ts'
import { outputBytesMax } from '#shared/capture/files.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { Traffic } from '#worker/browser-host/capture/load/traffic.ts'
import { classify } from '#worker/browser-host/capture/page/navigation-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { ConsoleLog, messagesMax } from './console-log.ts'
import { createRedactor, valueMin } from './redactor.ts'
import { type ExplainFailure, RequestLog } from './request-log.ts'

/** Frames of other sites and workers whose requests and messages are recorded. */
const targetsMax = 100

/** What is recorded of a page while it loads, as texts. `cut`: what is left out, undefined if nothing is. */
export type RecordedText = { readonly text: string; readonly cut: string | undefined }

/** The outputs that are recorded, not read from the page at its end. */
export type RecordedName = 'har' | 'console'

/** Reads what has been recorded so far; undefined if that was not requested. */
export type PageLog = (name: RecordedName) => Promise<RecordedText | undefined>

/** As many of the first parts as fit into an output, as JSON. */
const fitting = (parts: readonly unknown[]): string[] => {
  const texts: string[] = []
  // Room for what is around them.
  let left = outputBytesMax - 100_000
  for (const part of parts) {
    const text = JSON.stringify(part)
    left -= Buffer.byteLength(text) + 1
    if (left < 0) break
    texts.push(text)
  }
  return texts
}

const explainFailure =
  ({ traffic, blocker }: Filters): ExplainFailure =>
  (host, error) => {
    const refusal = traffic.findRefusal(host)
    if (refusal === 'blocked') return 'The address is not public, and is not reached from here.'
    if (refusal) return classify({ netError: undefined, host, refusal }).publicMessage
    if (blocker.hasRefused(host) || error.includes('ERR_BLOCKED_BY_CLIENT'))
      return 'Blocked by a parameter of the capture, such as block_ads.'
    return undefined
  }

const readHar = (requests: RequestLog, explain: ExplainFailure): RecordedText => {
  const { pages, entries } = requests.read(explain)
  const texts = fitting(entries)
  const omitted = requests.omitted() + entries.length - texts.length
  const cut = omitted > 0 ? `the first ${texts.length} requests; ${omitted} more are left out` : undefined
  const creator = { name: 'Shutterfleet', version: readProductVersion() }
  const head = { version: '1.2', creator, pages, ...(cut !== undefined && { comment: `Only ${cut}.` }) }
  return { text: `{"log":${JSON.stringify(head).slice(0, -1)},"entries":[${texts.join(',\n')}]}}\n`, cut }
}

/** The values of the cookies that the page has, which it may write to its console. */
const readCookies = async ({ browser, contextId }: Pick<Recorded, 'browser' | 'contextId'>): Promise<string[]> => {
  const { cookies } = await browser.session.send('Storage.getCookies', { browserContextId: contextId })
  return cookies.map(({ value }) => value).filter(({ length }) => length >= valueMin)
}

const readConsole = async (messages: ConsoleLog, open: Recorded): Promise<RecordedText> => {
  const all = messages.read(await readCookies(open))
  const texts = fitting(all)
  const isCut = messages.isFull() || texts.length < all.length
  const cut = isCut ? `the first ${texts.length} messages (at most ${messagesMax})` : undefined
  return { text: `{"truncated":${isCut},"messages":[${texts.join(',\n')}]}\n`, cut }
}

type Recorded = Pick<OpenPage, 'session' | 'mainFrameId' | 'contextId' | 'observeTargets'> & {
  readonly browser: Pick<OpenPage['browser'], 'session'>
}

type Filters = { readonly traffic: Pick<Traffic, 'findRefusal'>; readonly blocker: Pick<Blocker, 'hasRefused'> }

/**
 * Begins to record the requests and the console of a page that has not loaded yet, its frames and workers, as far as the plan
 * requests them; without either nothing is sent to the browser, and no event handled.
 */
export const recordPage = (
  open: Recorded,
  plan: Pick<CapturePlan, 'outputs' | 'source' | 'headers' | 'cookies' | 'storage'>,
  filters: Filters,
): PageLog => {
  const records = (name: RecordedName) => plan.outputs.includes(name)
  if (!records('har') && !records('console')) return async () => undefined
  const redactor = createRedactor(plan)
  const requests = records('har') ? new RequestLog(redactor, open.mainFrameId) : undefined
  const messages = records('console') ? new ConsoleLog(redactor) : undefined
  let targets = 0
  const watch = (session: Session) => {
    requests?.watch(session)
    messages?.watch(session)
  }
  // The page's own session has its network enabled for every capture.
  watch(open.session)
  open.observeTargets((session) => {
    targets += 1
    if (targets > targetsMax) return
    watch(session)
    if (requests) session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }).catch(() => {})
  })
  return async (name) => {
    if (name === 'har') return requests && readHar(requests, explainFailure(filters))
    return messages && (await readConsole(messages, open))
  }
}
