import t from 'tap'
import { consentPlatforms } from '#test/fixtures/consent-platforms.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { startManyHosts } from '#test/helpers/many-hosts.ts'
import { pixel, red } from '#test/helpers/shots.ts'

const page = 'site.test'
const pathOf = (name: string) => `/platform/${encodeURIComponent(name)}`
const { asked, shotOf, urlOf } = await startManyHosts(t, [page], {
  routes: Object.fromEntries(
    consentPlatforms.map(({ name, page }): [string, Route] => [
      pathOf(name),
      (_request, response) => response.end(page),
    ]),
  ),
})

t.test('banners are clicked through as their platforms want it, and gone from the picture', async (t) => {
  const clickable = consentPlatforms.filter((each) => each.isClickable)
  t.ok(clickable.length >= 20, 'platforms')
  for (const { name } of clickable) {
    asked.length = 0
    const url = urlOf(page, pathOf(name))
    const { warnings, ...shot } = await shotOf({ url })
    t.strictSame(await pixel(shot, 20, 20), red, name)
    t.notOk(
      warnings.some(({ code }) => code === 'consent_left'),
      name,
    )
    t.ok(asked.includes(`${page}/clicked/${encodeURIComponent(name)}`), `${name} is clicked`)
  }
})
