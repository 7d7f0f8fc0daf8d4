import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst, usingSelector } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** Error status of a document. */
const leastErrorStatus = 400

const unwantedPage = (publicMessage: string) => new AppError('RENDER_ERROR', { publicMessage, blame: 'target' })

/** Whether the page shows a text, ignoring upper and lower case and however it is broken into lines. */
const shows = (text: string) => `((text) => {
  const plain = (each) => each.replaceAll(/\\s+/g, ' ').toLowerCase()
  return plain(document.body?.innerText ?? '').includes(plain(text))
})(${JSON.stringify(text)})`

/** Throws `RENDER_ERROR` if the page is one that the caller does not want, and names the parameter that says so. */
export const assertWanted = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>,
  { hasErrorStatus, missing, present, text }: CapturePlan['unwanted'],
): Promise<void> => {
  const status = open.document.status() ?? 0
  if (hasErrorStatus && status >= leastErrorStatus)
    throw unwantedPage(`The page responded with status ${status} (fail_on_status).`)
  const matches = async (parameter: string, selector: string) =>
    (await usingSelector(parameter, selector, runInMainFrame(open, `${findFirst(selector)} !== null`))) === true
  if (missing !== undefined && !(await matches('fail_if_selector_missing', missing))) {
    throw unwantedPage(`Nothing matched fail_if_selector_missing '${missing}'.`)
  }
  if (present !== undefined && (await matches('fail_if_selector_present', present))) {
    throw unwantedPage(`The page has a match of fail_if_selector_present '${present}'.`)
  }
  if (text !== undefined && (await runInMainFrame(open, shows(text))) === true) {
    throw unwantedPage(`The page shows the text of fail_if_text, '${text}'.`)
  }
}
