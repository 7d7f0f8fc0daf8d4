import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { formatDetail, truncateOutcome } from '#worker/browser-host/outcome.ts'
import type { Outcome } from '#worker/protocol/protocol.ts'
import { readHostReport } from '#worker/host/read-host-report.ts'

t.test('outcome: keeps codes and names, without text from the request or the browser', async (t) => {
  const browser = new Error('page.goto: net::ERR_FAILED at "http://user:secret@a.test/?token=1"')
  const timeout = Object.assign(new Error('Timeout 5000ms: navigating to "http://a.test/secret"'), {
    name: 'TimeoutError',
  })
  const selector = { publicMessage: "Nothing matched wait_for_selector '#secret' within 5 s." }
  const details = [
    formatDetail(new AppError('RENDER_ERROR', { message: 'browser', cause: browser })),
    formatDetail(new AppError('TIMEOUT', { ...selector, cause: timeout })),
    formatDetail(new AppError('RENDER_ERROR', selector)),
  ]
  t.strictSame(details, ['browser: ERR_FAILED', 'TIMEOUT: TimeoutError', 'RENDER_ERROR'])
})

const shot = { sha256: '0'.repeat(64), width: 1, height: 1, mimeType: 'image/png', bytes: Buffer.from('image') }

/** The outcome as the supervisor reads it. */
const reported = (outcome: Outcome) => {
  const bounded = truncateOutcome(outcome)
  const bytes = bounded.outcome === 'completed' ? bounded.shot.bytes : Buffer.alloc(0)
  const json = JSON.stringify({ kind: 'ended', id: 'a', outcome: bounded }, (key, value) =>
    key === 'bytes' ? undefined : value,
  )
  const report = readHostReport(json, bytes)
  return report.kind === 'ended' ? report.outcome : undefined
}

t.test('outcome: bounds the texts of a page to those of a record', async (t) => {
  const warnings = Array.from({ length: 30 }, () => ({ code: 'selector_not_found', message: 'x'.repeat(600) }))
  const metadata = { title: 'x'.repeat(600), favicon: 'javascript:alert(1)', og: { title: 'T' } }
  const finalUrl = `http://page.test/${'x'.repeat(9000)}`
  const outcome = reported({ outcome: 'completed', shot: { ...shot, warnings, metadata, finalUrl }, timings: {} })
  if (outcome?.outcome !== 'completed') return t.fail('no shot')
  t.equal(outcome.shot.warnings.length, 20)
  t.match(outcome.shot.warnings[0], { message: /^x{499}…$/ })
  t.strictSame(outcome.shot.metadata, { title: `${'x'.repeat(499)}…`, og: { title: 'T' } })
  t.notOk('finalUrl' in outcome.shot)
})

t.test('outcome: truncates messages and details', async (t) => {
  const long = 'y'.repeat(5000)
  const failed = reported({
    outcome: 'failed',
    code: 'TIMEOUT',
    message: long,
    blame: 'target',
    detail: long,
    timings: {},
  })
  t.match(failed, { message: /^y{1000}$/, detail: /^y{4000}$/ })
  const interrupted = reported({ outcome: 'interrupted', by: 'browser', isLoaded: true, detail: long, timings: {} })
  t.match(interrupted, { detail: /^y{4000}$/ })
})
