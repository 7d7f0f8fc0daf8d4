import t from 'tap'
import { runCheck } from '#local/doctor/check.ts'

t.test('check: a failed check is one line with advice, a successful one has no advice', async (t) => {
  const check = { name: 'thing', advice: 'mend it' }
  t.strictSame(await runCheck({ ...check, run: async () => 'fine' }), { name: 'thing', ok: true, detail: 'fine' })
  const broken = async () => Promise.reject(new Error('broken\nat a place'))
  t.strictSame(await runCheck({ ...check, run: broken }), { ...check, ok: false, detail: 'broken' })
  const program = async () => Promise.reject(new Error('Command failed: thing --long\nno such thing\n'))
  t.match(await runCheck({ ...check, run: program }), { detail: 'no such thing' })
  t.match(await runCheck({ ...check, run: () => Promise.reject(new Error('')) }), { detail: 'it failed' })
})

t.test('check: is skipped if a check it needs has failed', async (t) => {
  const check = { name: 'sandbox', advice: 'mend it', needs: 'chromium', run: async () => 'fine' }
  const earlier = (ok: boolean) => [{ name: 'chromium', ok, detail: '' }]
  t.match(await runCheck(check, earlier(true)), { ok: true, detail: 'fine' })
  t.strictSame(await runCheck(check, earlier(false)), {
    name: 'sandbox',
    ok: false,
    checked: false,
    detail: 'not checked, since chromium failed',
  })
})
