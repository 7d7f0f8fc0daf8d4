import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const { pages, shoot, take } = await startCaptureEnvironment(t, {
  '/form': (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<form action="/found"><input name="q" autofocus></form>`),
  '/found': ({ url }, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${url}</title><h1 class="result">Found</h1>`),
  '/stored': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(
      `<script>
        document.title = [localStorage.token, sessionStorage.tour].join(' ')
        localStorage.token = 'renewed'
      </script><a href="">again</a>`,
    ),
})

/** A page that notes what happens in its title. */
const noting = (body: string) =>
  redPage(`${body}<script>
    const noted = []
    const note = (text) => { noted.push(text); document.title = noted.join(' ') }
    for (const type of ['click', 'mouseover', 'change', 'keydown', 'scroll'])
      addEventListener(type, (event) => note([type, event.target.id ?? '', event.key ?? event.target.value ?? ''].join(':')), true)
  </script>`)

const titleAfter = async (actions: CaptureParameters['actions'], source: CaptureParameters) => {
  const { metadata, warnings } = await shoot({ ...source, ...(actions && { actions }), extract_metadata: true })
  return { title: metadata?.title ?? '', warnings }
}

t.test(
  'worker actions: elements are clicked, typed into, selected and hovered in the order of the request',
  async (t) => {
    const html = noting(`<button id="b">B</button><input id="i"><div id="h">H</div>
    <select id="s"><option value="1">One</option><option value="2">Two</option></select>`)
    const { title, warnings } = await titleAfter(
      [
        { type: 'click', selector: '#b' },
        { type: 'type', selector: '#i', text: 'aé' },
        { type: 'press', key: 'Backspace' },
        { type: 'type', text: 'b' },
        { type: 'press', key: 'Tab' },
        { type: 'select', selector: '#s', value: 'Two' },
        { type: 'select', selector: '#s', value: '1' },
        { type: 'hover', selector: '#h' },
      ],
      { html },
    )
    t.same(warnings, [])
    const order = ['click:b:', 'keydown:i:a', 'keydown:i:é', 'keydown:i:Backspace', 'keydown:i:b', 'keydown:i:Tab']
    t.match(title, new RegExp([...order, 'change:i:ab', 'change:s:2', 'change:s:1', 'mouseover:h:'].join('.*')))
  },
)

t.test(
  'worker actions: what an action brings is waited for, whatever requests of a given document are blocked',
  async (t) => {
    const turns = 'onclick="document.body.style.background = \'rgb(0,0,255)\'"'
    const html =
      redPage(`<button id="a" onclick="setTimeout(() => document.getElementById('b').hidden = false, 500)">A</button>
    <button id="b" ${turns} hidden>B</button>`)
    const actions = ['#a', '#b'].map((selector) => ({ type: 'click', selector }) as const)
    for (const parameters of [{}, { block_requests: ['*.example.com/*'] }]) {
      const shot = await shoot({ html, actions, ...parameters })
      t.same([shot.warnings, await pixel(shot, 600, 600)], [[], blue])
    }
  },
)

t.test('worker actions: hovered and scrolled content is in the picture', async (t) => {
  const html = redPage(
    '<style>#h:hover { background: rgb(0,0,255) }</style><div id="h" style="width:100px;height:100px"></div><div style="height:5000px"></div><div id="far" style="height:900px;background:rgb(0,0,255)"></div>',
  )
  t.strictSame(await pixel(await shoot({ html, actions: [{ type: 'hover', selector: '#h' }] }), 50, 50), blue)
  t.strictSame(await pixel(await shoot({ html, actions: [{ type: 'scroll', selector: '#far' }] }), 50, 50), blue)
  t.strictSame(await pixel(await shoot({ html, actions: [{ type: 'scroll', y: 5200 }] }), 50, 50), blue)
  t.strictSame(await pixel(await shoot({ html }), 50, 50), red)
})

t.test(
  'worker actions: a step waits for its element, and finds it in the document that the step before led to',
  async (t) => {
    const late = `<button id="b" onclick="setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button id=c>C</button>'), 300)">B</button>`
    const { title } = await titleAfter(
      [
        { type: 'click', selector: '#b' },
        { type: 'click', selector: '#c' },
      ],
      {
        html: noting(late),
      },
    )
    t.match(title, /click:b:.*click:c:/)
    const searched = await titleAfter(
      [
        { type: 'type', text: 'shutter' },
        { type: 'press', key: 'Enter' },
        { type: 'wait', selector: '.result' },
      ],
      { url: `${pages.url}/form` },
    )
    t.match(searched, { title: '/found?q=shutter', warnings: [] })
  },
)

t.test(
  'worker actions: a step without its element is left out with a warning, an invalid selector fails',
  async (t) => {
    const html = noting('<button id="b">B</button><select id="s"><option>One</option></select>')
    const { title, warnings } = await titleAfter(
      [
        { type: 'click', selector: '#none' },
        { type: 'select', selector: '#s', value: 'Two' },
        { type: 'wait', milliseconds: 100 },
        { type: 'click', selector: '#b' },
      ],
      { html },
    )
    t.match(title, 'click:b:')
    t.match(warnings, [
      { code: 'selector_not_found', message: "actions.0.selector '#none' matched nothing." },
      { code: 'selector_not_found', message: "actions.1.selector '#s' has no option 'Two'." },
    ])
    const invalid = { html, actions: [{ type: 'click', selector: 'a:foo(' }] } as CaptureParameters
    t.match(await take(invalid), { outcome: 'failed', code: 'RENDER_ERROR', message: /actions\.0\.selector/ })
  },
)

t.test('worker actions: handlers that open dialogs or navigate do not hold up the capture', async (t) => {
  for (const handler of ['alert(1)', "location = 'about:blank#x'"]) {
    const html = redPage(`<input id="b" style="width:100px" onkeydown="${handler}" onclick="${handler}">`)
    const actions: CaptureParameters['actions'] = [
      { type: 'type', selector: '#b', text: 'ab' },
      { type: 'click', selector: '#b' },
    ]
    t.match(await take({ html, actions }), { outcome: 'completed' }, handler)
  }
})

t.test(
  'worker actions: items of storage are there when the page loads, and later ones keep what it made of them',
  async (t) => {
    const source = {
      url: `${pages.url}/stored`,
      local_storage: { token: 'ours' },
      session_storage: { tour: 'done' },
    }
    t.equal((await titleAfter(undefined, source)).title, 'ours done')
    t.equal((await titleAfter([{ type: 'click', selector: 'a' }], source)).title, 'renewed done')
  },
)
