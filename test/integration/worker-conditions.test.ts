import t from 'tap'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const { pages, shoot, take } = await startCaptureEnvironment(t, {
  '/held.svg': () => {},
  '/gone': (_request, response) =>
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Page  not\nfound</h1>'),
})

/** Turns blue after a while. */
const later = (ms = 300) => `<script>setTimeout(() => {
  document.body.style.background = 'rgb(0,0,255)'
  document.querySelector('.spinner')?.remove()
  globalThis.isReady = true
}, ${ms})</script>`

t.test('worker conditions: a page is waited for until something is hidden, or a function is true', async (t) => {
  const spinner = '<div class="spinner" style="width:10px;height:10px"></div>'
  const hidden = await shoot({ html: redPage(spinner + later()), wait_for_selector_hidden: '.spinner' })
  t.strictSame(await pixel(hidden, 50, 50), blue)
  const others = `<i class="spinner" hidden></i>${spinner}<script>setTimeout(() => {
    for (const each of document.querySelectorAll('.spinner')) each.style.height = '0'
  }, 2000)</script>`
  const collapsed = await shoot({ html: redPage(others + later(2000)), wait_for_selector_hidden: '.spinner' })
  t.strictSame(await pixel(collapsed, 50, 50), blue, 'all matches, also by their size')
  for (const js of ['globalThis.isReady === true', '() => isReady', 'async () => isReady', '(isReady)']) {
    t.strictSame(await pixel(await shoot({ html: redPage(later()), wait_for_function: js }), 50, 50), blue, js)
  }
  t.strictSame(await pixel(await shoot({ html: redPage(later(10_000)) }), 50, 50), red, 'not without them')
})

t.test(
  'worker conditions: an unmet condition is TIMEOUT, an invalid expression RENDER_ERROR, and both messages quote it',
  async (t) => {
    const html = redPage('<div class="spinner" style="width:10px;height:10px"></div>')
    for (const [parameters, code, message] of [
      [{ wait_for_selector_hidden: '.spinner' }, 'TIMEOUT', /'.spinner' was still visible within 5 s/],
      [{ wait_for_function: 'false' }, 'TIMEOUT', /wait_for_function was not true within 5 s/],
      [{ wait_for_function: '() => { for (;;); }' }, 'TIMEOUT', /wait_for_function/],
      [{ wait_for_function: 'if (' }, 'RENDER_ERROR', /wait_for_function is not a JavaScript expression/],
    ] as const) {
      t.match(await take({ html, ...parameters }), { outcome: 'failed', code, message }, JSON.stringify(parameters))
    }
  },
)

t.test('worker conditions: domcontentloaded does not wait for images', async (t) => {
  const url = `${pages.url}/held.svg`
  const html = redPage(`<img src="${url}">`)
  t.match(await take({ html }), { code: 'TIMEOUT' })
  t.match(await take({ html, wait_until: 'domcontentloaded' }), { outcome: 'completed' })
})

t.test('worker conditions: a page that the caller does not want fails, and the message says why', async (t) => {
  const url = `${pages.url}/gone`
  t.match(await take({ url }), { outcome: 'completed', shot: { targetStatus: 404 } })
  for (const [parameters, message] of [
    [{ fail_on_status: true }, /status 404/],
    [{ fail_if_selector_missing: 'article' }, /fail_if_selector_missing 'article'/],
    [{ fail_if_selector_present: 'h1' }, /fail_if_selector_present 'h1'/],
    [{ fail_if_text: 'PAGE NOT found' }, /fail_if_text/],
  ] as const) {
    const end = await take({ url, ...parameters })
    t.match(end, { outcome: 'failed', code: 'RENDER_ERROR', blame: 'target', message }, JSON.stringify(parameters))
  }
  const expected = {
    fail_on_status: true,
    fail_if_selector_missing: 'body',
    fail_if_selector_present: 'h1',
    fail_if_text: 'found',
  }
  t.match(await take({ html: redPage('<p>fine</p>'), ...expected }), { outcome: 'completed' })
})
