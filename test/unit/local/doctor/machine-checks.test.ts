import t from 'tap'
import { runCheck } from '#local/doctor/check.ts'
import { machineChecks } from '#local/doctor/machine-checks.ts'

const findings = async (facts: { chromium?: string; stealthChromium?: string; nodeVersion?: string }) => {
  const { chromium: shell, stealthChromium } = facts
  const checks = machineChecks({
    chromium: shell,
    stealthChromium,
    nodeVersion: facts.nodeVersion ?? '24.21.0',
    isRoot: false,
  })
  const [node, chromium, full, sandbox] = await Promise.all(checks.map((check) => runCheck(check)))
  return { node, chromium, full, sandbox }
}

t.test('machine checks: an older Node fails, the required version and newer ones pass', async (t) => {
  for (const [nodeVersion, ok] of [
    ['24.20.9', false],
    ['22.99.0', false],
    ['24.21.0', true],
    ['26.0.0', true],
  ] as const) {
    t.match((await findings({ nodeVersion })).node, { ok }, nodeVersion)
  }
})

t.test('machine checks: a missing Chromium fails, and so does one without output', async (t) => {
  t.match(await findings({}), { chromium: { ok: false, detail: 'there is none' }, sandbox: { ok: false } })
  t.match(await findings({ chromium: '/bin/true' }), { sandbox: { ok: false } })
})

t.test('machine checks: a full Chromium is optional, and must run if present', async (t) => {
  t.match((await findings({})).full, { ok: true, detail: /^none: captures with stealth are refused/ })
  t.match((await findings({ stealthChromium: '/bin/false' })).full, { ok: false, advice: /STEALTH_CHROMIUM/ })
})
