import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { detailOf } from '#worker/browser-host/detail-of.ts'

t.test('keeps codes and names, and nothing that the request or the browser said', async (t) => {
  const browser = new Error('page.goto: net::ERR_FAILED at "http://user:secret@a.test/?token=1"')
  const timeout = Object.assign(new Error('Timeout 5000ms: navigating to "http://a.test/secret"'), {
    name: 'TimeoutError',
  })
  const selector = { publicMessage: "Nothing matched wait_for_selector '#secret' within 5 s." }
  const details = [
    detailOf(new AppError('RENDER_ERROR', { message: 'browser', cause: browser })),
    detailOf(new AppError('TIMEOUT', { ...selector, cause: timeout })),
    detailOf(new AppError('RENDER_ERROR', selector)),
  ]
  t.strictSame(details, ['browser: ERR_FAILED', 'TIMEOUT: TimeoutError', 'RENDER_ERROR'])
})
