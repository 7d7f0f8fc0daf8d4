import t from 'tap'
import { deadlineFailure, excuseStalls, type Outcome } from '#worker/protocol/protocol.ts'

type Failed = Extract<Outcome, { outcome: 'failed' }>

const failed = (failure: Pick<Failed, 'code' | 'message' | 'blame'>): Outcome => ({
  outcome: 'failed',
  ...failure,
  detail: failure.code,
  timings: {},
})

const tenSeconds = (stalledMs: number) => ({ stalledMs, timeoutSeconds: 10, isLoaded: true })

t.test('stall excuse: a deadline is not the failure of a page for which its worker did not run', async (t) => {
  const unmet = {
    code: 'TIMEOUT',
    message: "Nothing matched wait_for_selector 'a' within 10 s.",
    blame: 'target',
  } as const
  for (const failure of [deadlineFailure(false, 10), deadlineFailure(true, 10), unmet]) {
    const excused = excuseStalls(failed(failure), tenSeconds(2000))
    t.match(excused, { outcome: 'interrupted', by: 'worker', detail: `did not run for 2000 ms, then ${failure.code}` })
  }
})

t.test('stall excuse: a stall of less than a fifth of the timeout excuses nothing', async (t) => {
  for (const isLoaded of [false, true]) {
    const outcome = failed(deadlineFailure(isLoaded, 10))
    t.equal(excuseStalls(outcome, tenSeconds(1999)), outcome)
  }
})

t.test('stall excuse: a failure that does not depend on time stands', async (t) => {
  const failures = [
    { code: 'RENDER_ERROR', message: 'The page responded with status 404 (fail_on_status).', blame: 'target' },
    { code: 'CONNECTION_FAILED', message: 'The connection to a.test failed (ERR_EMPTY_RESPONSE).', blame: 'target' },
  ] as const
  for (const failure of failures) {
    const outcome = failed(failure)
    t.equal(excuseStalls(outcome, tenSeconds(9000)), outcome)
  }
})
