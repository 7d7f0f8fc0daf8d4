import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runCheck } from '#local/doctor/check.ts'
import { machineChecks } from '#local/doctor/machine-checks.ts'

const now = Date.UTC(2026, 2, 31)
const day = 86_400_000

const findings = async (facts: { chromium?: string; stealthChromium?: string; nodeVersion?: string }) => {
  const { chromium: shell, stealthChromium } = facts
  const checks = machineChecks({
    chromium: shell,
    stealthChromium,
    nodeVersion: facts.nodeVersion ?? '24.21.0',
    isRoot: false,
    nowMs: now,
    browserAgeDaysMax: 30,
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

t.test('machine checks: the age of a browser is that of its file; an old one is a warning', async (t) => {
  const program = join(t.testdir(), 'chromium')
  await writeFile(program, '#!/bin/sh\necho Chromium 156.0.1.2\n', { mode: 0o755 })
  const builtAt = async (ms: number) => {
    await utimes(program, ms / 1000, ms / 1000)
    const { chromium, full } = await findings({ chromium: program, stealthChromium: program })
    t.strictSame(chromium?.detail, full?.detail)
    t.equal(chromium?.ok, true)
    return chromium?.detail
  }
  t.equal(await builtAt(now - 30 * day), 'Chromium 156.0.1.2, built 30 days ago')
  t.match(await builtAt(now - 31 * day), /^Chromium 156\.0\.1\.2, warning: 31 days old, .*AGE_DAYS_MAX \(30\)$/)
  for (const impossible of [0, Date.UTC(1980, 0, 1), now + 2 * day])
    t.equal(await builtAt(impossible), 'Chromium 156.0.1.2, of unknown age')
})
