import t from 'tap'
import { challengePages, cleanPages } from '#test/fixtures/pages/challenges.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

const { shoot } = await startCaptureEnvironment(t)

/** Codes of the warnings of a page; the vendors' hosts are unreachable. */
const codesOf = async (html: string) =>
  (await shoot({ html, format: 'jpeg', block_cookies: false })).warnings.map(({ code }) => code)

t.test("worker quality: a vendor's challenge instead of a page causes a warning", async (t) => {
  for (const [vendor, html] of Object.entries(challengePages)) {
    const { warnings } = await shoot({ html: `<!doctype html>${html}`, format: 'jpeg' })
    const found = warnings.find(({ code }) => code === 'challenge')
    t.match(found?.message, vendor.split(',')[0] ?? '', vendor)
  }
})

t.test("worker quality: an ordinary page is not reported as a challenge, even with a vendor's widget", async (t) => {
  t.ok(cleanPages.length >= 50)
  for (const html of cleanPages) t.notOk((await codesOf(`<!doctype html>${html}`)).includes('challenge'), html)
})

t.test('worker quality: a page with more than a few words is no challenge, whatever it embeds', async (t) => {
  const long = `${challengePages['Cloudflare']}<p>${'An article about gardens. '.repeat(100)}`
  t.notOk((await codesOf(long)).includes('challenge'))
})

t.test('worker quality: a blank page is captured once more before it is reported as blank', async (t) => {
  const late = `<!doctype html><script>
    onload = () => setTimeout(() => { document.body.innerHTML = '<h1>Here</h1>' }, 350)
  </script>`
  t.same((await shoot({ html: late })).warnings, [])
  t.match((await shoot({ html: '<!doctype html><body style="background:blue">' })).warnings, [{ code: 'blank' }])
})
