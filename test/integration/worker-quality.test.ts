import t from 'tap'
import { challengePages, cleanPages } from '#test/fixtures/pages/challenges.ts'
import { blue, pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'

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

t.test(
  'worker quality: fonts of other systems are drawn by similar ones, without a generic name after them',
  async (t) => {
    const html = `<canvas></canvas><script>
    const context = document.querySelector('canvas').getContext('2d')
    const widthIn = (family) => {
      context.font = '40px ' + (/^[\\w-]+$/.test(family) ? family : '"' + family + '"')
      return context.measureText('Hamburgefonstiv illl').width
    }
    const sans = ['Verdana', 'Tahoma', 'Trebuchet MS', 'Segoe UI', 'Calibri', 'Roboto', 'Helvetica Neue', 'Open Sans', '-apple-system', 'Comic Sans MS', 'Impact']
    const mono = ['Consolas', 'Menlo', 'Monaco', 'ui-monospace']
    const wrong = [
      ...sans.filter((each) => ![widthIn('Noto Sans'), widthIn('Liberation Sans')].includes(widthIn(each))),
      ...mono.filter((each) => widthIn(each) !== widthIn('Liberation Mono')),
    ]
    document.body.innerHTML = wrong.join()
    document.documentElement.style.background = wrong.length === 0 ? 'rgb(0,0,255)' : 'red'</script>`
    t.strictSame(await pixel(await shoot({ html }), 900, 600), blue)
  },
)
