import t from 'tap'
import { browserAgeAdvice, browserAgeDays, toBuildTime } from '#shared/policy/browser-age.ts'

const now = Date.UTC(2026, 2, 31)
const day = 86_400_000

t.test('browser age: the time of a file is that of the build only if it can be', async (t) => {
  t.equal(toBuildTime(now - day + 0.4, now), now - day)
  t.equal(toBuildTime(now + day, now), now + day, 'clocks may differ')
  for (const impossible of [0, Date.UTC(1980, 0, 1), Date.UTC(2014, 11, 31), now + 2 * day, Number.NaN])
    t.equal(toBuildTime(impossible, now), undefined, String(impossible))
})

t.test('browser age: counts full days, none of a build in the future', async (t) => {
  t.equal(browserAgeDays(now - 2 * day + 1, now), 1)
  t.equal(browserAgeDays(now + day, now), 0)
})

t.test('browser age: advises an update above the bound, and names the setting', async (t) => {
  t.equal(browserAgeAdvice(30, 30), undefined)
  t.match(browserAgeAdvice(31, 30), /^31 days old, .*SHUTTERFLEET_BROWSER_AGE_DAYS_MAX \(30\)$/)
})
