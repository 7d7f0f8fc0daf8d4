import t from 'tap'
import { readPageSizes, streamsOf } from '#test/helpers/pdf.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

t.setTimeout(300_000)

const { pages, shoot } = await startCaptureEnvironment(t)

const fillsRed = (pdf: Uint8Array) => streamsOf(pdf).some((stream) => /\b1 0 0 rg\b/.test(stream))

/** Colours of parts of a page, so that a PDF tells which it has, as in CSS and in the PDF. */
const partColours = [0, 51, 102, 153, 204, 255].map((green) => `rgb(0,${green},255)`)
const partsIn = (pdf: Uint8Array): number[] => {
  const streams = streamsOf(pdf).join('\n')
  return ['0', '.2', '.4', '.6', '.8', '1'].flatMap((green, part) =>
    new RegExp(`(?:^|\\s)0 ${green.replace('.', '\\.')} 1 rg\\b`).test(streams) ? [part] : [],
  )
}
const allParts = [0, 1, 2, 3, 4, 5]

for (const [what, script] of [
  [
    'an observer sees',
    'new IntersectionObserver((entries, it) => { for (const { target, isIntersecting } of entries) if (isIntersecting) { it.unobserve(target); show(target) } })',
  ],
  [
    'a scroll listener finds in view',
    '{ observe: (each) => { const look = () => { if (each.getBoundingClientRect().top < innerHeight) show(each) }; addEventListener("scroll", look); look() } }',
  ],
] as const) {
  t.test(`worker paper: what ${what} is on all kinds of pages`, async (t) => {
    const page = `<!doctype html><style>p { height: 700px; opacity: 0; transition: opacity 1s } .in { opacity: 1 }</style>
      ${partColours.map((colour) => `<p data-colour="${colour}"></p>`).join('')}<script>
      const show = async (each) => { await 0; each.className = 'in'; each.style.background = each.dataset.colour }
      const seen = ${script}
      for (const each of document.querySelectorAll('p')) seen.observe(each)</script>`
    for (const parameters of [{}, { pdf_single_page: true }, { media_type: 'screen' as const }]) {
      const { bytes, warnings } = await shoot({ html: page, format: 'pdf', ...parameters })
      t.strictSame([partsIn(bytes), warnings], [allParts, []], JSON.stringify(parameters))
    }
  })
}

t.test('worker paper: what a page shows only while it is in view is on the pages', async (t) => {
  for (const [style, shown] of [
    ['opacity: 0; translate: 0 90px; transition: .6s', 'opacity: 1; translate: none'],
    ['visibility: hidden', 'visibility: visible'],
  ] as const) {
    const page = `<!doctype html><style>p { height: 900px; ${style} } .in { ${shown} }</style>
      ${partColours.map((colour) => `<p style="background:${colour}"></p>`).join('')}<script>
      const seen = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) target.classList.toggle('in', isIntersecting) }, { threshold: 0.3 })
      for (const each of document.querySelectorAll('p')) seen.observe(each)</script>`
    const { bytes, warnings } = await shoot({ html: page, format: 'pdf' })
    t.strictSame([partsIn(bytes), warnings], [allParts, []], style)
  }
})

t.test('worker paper: images that a script loads once they are in view are on the pages', async (t) => {
  const pictures = partColours
    .map((_, part) => `<img height="700" width="500" data-src="${pages.url}/square.svg?${part}">`)
    .join('')
  const page = `<!doctype html>${pictures}<script>const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) target.src = target.dataset.src })
    for (const each of document.images) seen.observe(each)</script>`
  pages.hits.length = 0
  const { bytes } = await shoot({ html: page, format: 'pdf' })
  t.equal(pages.hits.length, partColours.length)
  t.ok(fillsRed(bytes))
})

const parts = partColours.map((colour) => `<p style="height:500px;margin:0;background:${colour}"></p>`).join('')
const styled = (style: string, body: string) => `<!doctype html><style>body { margin: 0 } ${style}</style>${body}`

for (const [what, style, body] of [
  [
    'a row of a flex box',
    'html, body { height: 100%; overflow: hidden } div { display: flex; height: 100vh } main { flex: 1; overflow: auto }',
    `<div><nav>menu</nav><main>${parts}</main></div>`,
  ],
  ['the body', 'html { height: 100%; overflow: hidden } body { height: 100%; overflow-y: auto }', parts],
  ['a fixed box', 'main { position: fixed; inset: 40px 0 0; overflow-y: scroll }', `<main>${parts}</main>`],
  [
    'a box placed inside boxes that are cut',
    'body { height: 100vh; overflow: hidden } div { height: 100%; overflow: hidden; position: relative } main { position: absolute; inset: 50px 0 0 200px; overflow: auto; contain: strict }',
    `<div><aside>menu</aside><main>${parts}</main></div>`,
  ],
  [
    'a cell of a grid',
    'div { display: grid; grid-template: 60px 1fr / 200px 1fr; height: 100vh } main { overflow: auto; min-height: 0 }',
    `<div><b>1</b><b>2</b><b>3</b><main>${parts}</main></div>`,
  ],
] as const) {
  t.test(`worker paper: a column that scrolls is printed in full: ${what}`, async (t) => {
    const pdf = await shoot({ html: styled(style, body), format: 'pdf' })
    t.strictSame([partsIn(pdf.bytes), readPageSizes(pdf.bytes).length], [allParts, 3])
    const single = await shoot({ html: styled(style, body), format: 'pdf', pdf_single_page: true })
    t.strictSame([partsIn(single.bytes), single.warnings], [allParts, []])
    t.ok(single.height > 3000 && single.height < 3250, `${single.height} px`)
  })
}

t.test('worker paper: print styles decide of a column that scrolls', async (t) => {
  const shell = 'html, body, main { height: 100%; overflow: hidden } section { height: 100%; overflow: auto }'
  const own = '@media print { html, body, main, section { height: auto; overflow: visible } p + p { display: none } }'
  const { bytes } = await shoot({
    html: styled(shell + own, `<main><section>${parts}</section></main>`),
    format: 'pdf',
  })
  t.strictSame([partsIn(bytes), readPageSizes(bytes).length], [[0], 1])
})

t.test('worker paper: bars that are fixed stand once, unless print styles place them', async (t) => {
  const bars = (style: string) =>
    styled(
      `body { padding: 80px 0 } i { position: fixed; left: 0; right: 0; height: 80px; background: rgb(255,0,0) } ${style}`,
      `<i></i>${parts}`,
    )
  const timesRed = async (style: string) => {
    const { bytes } = await shoot({ html: bars(style), format: 'pdf' })
    return (
      streamsOf(bytes)
        .join('\n')
        .match(/\b1 0 0 rg\b/g)?.length ?? 0
    )
  }
  t.equal(await timesRed('i { top: 0 }'), 1, 'at the top')
  t.equal(await timesRed('i { bottom: 0 }'), 1, 'at the bottom')
  t.ok((await timesRed('@media print { i { position: fixed; top: 0 } }')) >= 4, 'placed by print styles')
  t.equal(await timesRed('i { top: 0 } @media print { i { display: none } }'), 0, 'hidden by print styles')
  t.ok((await timesRed('i { top: 40%; pointer-events: none }')) >= 4, 'a watermark')
})

t.test('worker paper: a page of the height of the window has no second page for its margins', async (t) => {
  const pagesOf = async (html: string) => readPageSizes((await shoot({ html, format: 'pdf' })).bytes).length
  t.equal(await pagesOf('<!doctype html><div style="min-height:100vh">one</div>'), 1)
  t.equal(
    await pagesOf('<!doctype html><style>html, body { height: 100% }</style><div style="min-height:100%">one</div>'),
    1,
  )
  t.equal(
    await pagesOf(styled('main { min-height: 100vh }', '<header style="height:60px">head</header><main>one</main>')),
    1,
  )
  t.equal(await pagesOf(styled('main { min-height: 100vh; padding: 20px }', '<main>one</main>')), 1)
  const higher = styled('main { height: 110vh }', '<main>one</main>')
  t.equal(await pagesOf(higher), 2, 'what is higher by its style stays')
  t.equal(await pagesOf(styled('div { height: 100vh }', '<div>one</div><div>two</div>')), 2, 'pages of their own stay')
})

t.test('worker paper: what only print styles name is loaded before', async (t) => {
  const image = `${pages.url}/square.svg`
  const page = `<!doctype html><style>b { display: block; width: 90px; height: 90px } @media print { b { background: url(${image}?style) } }</style>
    <b></b><picture><source media="print" srcset="${image}?source"><img width="90" height="90" src="data:,"></picture>`
  pages.hits.length = 0
  const { bytes } = await shoot({ html: page, format: 'pdf' })
  t.strictSame(pages.hits, ['/square.svg', '/square.svg'])
  t.ok(fillsRed(bytes))
})

/** The scale of a PDF's content. */
const scaleOf = (pdf: Uint8Array): number =>
  Math.round((Number(/([\d.]+) 0 0 [\d.]+ 115\.\d+ 115\.\d+ cm/.exec(streamsOf(pdf).join('\n'))?.[1]) / 3.125) * 1000) /
  1000

t.test('worker paper: content wider than the paper is shrunk until nothing is cut, or has a warning', async (t) => {
  const wide = (width: number) => styled('', `<div style="width:${width}px;height:90px;background:rgb(255,0,0)"></div>`)
  const print = (html: string, parameters: object = {}) => shoot({ html, format: 'pdf', ...parameters })
  const cut = [{ code: 'truncated' }]
  const near = (pdf: { bytes: Uint8Array }, scale: number) => Math.abs(scaleOf(pdf.bytes) - scale) < 0.005
  const [slightly, layout, table, tooWide] = [
    await print(wide(1000)),
    await print(wide(1200)),
    await print(wide(1900)),
    await print(wide(4000)),
  ]
  t.ok(near(slightly, 718 / 1000), `${scaleOf(slightly.bytes)} by the browser itself`)
  t.ok(near(layout, 718 / 1200), `${scaleOf(layout.bytes)}`)
  t.ok(near(table, 718 / 1900), `${scaleOf(table.bytes)}`)
  t.strictSame([slightly.warnings, layout.warnings, table.warnings], [[], [], []])
  t.match(tooWide.warnings, cut)
  t.match((await print(wide(1200), { pdf_fit: 'none' })).warnings, cut)
  const column = styled(
    'main { width: 1170px } @media (max-width: 900px) { main { width: auto } }',
    '<main>text</main>',
  )
  t.ok(near(await print(column), 1), 'a layout that fits the paper stays')
  const scrolling = styled(
    'main { overflow-x: auto } td { padding: 0 60px }',
    `<main><table><tr>${'<td>cell'.repeat(9)}</table></main>`,
  )
  t.ok(scaleOf((await print(scrolling)).bytes) < 0.6, 'a table that scrolls sideways')
  const centred = styled('main { width: 600px; margin: auto }', `<main>${wide(1500)}</main>`)
  t.ok(near(await print(centred), 718 / 2400), 'what is centred')
  const single = await print(wide(1200), { pdf_single_page: true })
  t.strictSame([near(single, 718 / 1200), single.warnings], [true, []])
})

t.test('worker paper: pages have the size that the page sets, by choice', async (t) => {
  const slides = styled(
    '@page { size: 1280px 720px; margin: 0 } p { width: 1280px; height: 720px; margin: 0; break-after: page }',
    '<p>1</p><p>2</p>',
  )
  const own = await shoot({ html: slides, format: 'pdf', pdf_css_page_size: true })
  t.strictSame(
    [readPageSizes(own.bytes), own.width, own.height],
    [
      [
        [960, 540],
        [960, 540],
      ],
      1280,
      720,
    ],
  )
  t.not(readPageSizes((await shoot({ html: slides, format: 'pdf' })).bytes)[0]?.[0], 960)
  const none = await shoot({ html: '<p>1</p>', format: 'pdf', pdf_css_page_size: true })
  t.match(none, { width: 794, height: 1123 })
  const titled = `<title>/Type /Page /MediaBox [0 0 99999999 1]</title>${slides}`
  t.match(await shoot({ html: titled, format: 'pdf', pdf_css_page_size: true }), { width: 1280, height: 720 })
})

/** Whether a PDF has a box of a colour from corner to corner of its page, in pixels of A4. */
const hasGround = (pdf: Uint8Array, colour: string) =>
  new RegExp(`3\\.125 0 0 3\\.125 0 0 cm\\s[^]{0,40}${colour.replaceAll('.', '\\.')} rg[^]{0,80}0 0 795 1123 re`).test(
    streamsOf(pdf).join('\n'),
  )

t.test('worker paper: margins have the colour of the page', async (t) => {
  const dark = styled('body { background: rgb(0,51,255) }', 'text')
  t.ok(hasGround((await shoot({ html: dark, format: 'pdf' })).bytes, '0 .2 1'))
  t.notOk(hasGround((await shoot({ html: dark, format: 'pdf', pdf_background: false })).bytes, '0 .2 1'))
  const app = styled('main { background: rgb(0,51,255); min-height: 100vh }', '<main>text</main>')
  t.ok(hasGround((await shoot({ html: app, format: 'pdf' })).bytes, '0 .2 1'), 'of an element over all of it too')
  const hero = styled('main { background: rgb(0,51,255); height: 100vh }', '<main>text</main><p>more</p>')
  t.notOk(hasGround((await shoot({ html: hero, format: 'pdf' })).bytes, '0 .2 1'))
  const light = styled('body { background: rgb(0,51,255) } @media print { body { background: white } }', 'text')
  t.notOk(hasGround((await shoot({ html: light, format: 'pdf' })).bytes, '0 .2 1'))
  const whole = await shoot({ html: dark, format: 'pdf', full_page: true })
  t.match(streamsOf(whole.bytes).join('\n'), /0 \.2 1 rg[^]{0,80}0 0 1356 \d+ re/)
})

t.test('worker paper: no side of a page is longer than PDF readers show', async (t) => {
  const tall = styled('', '<div style="height:19900px"></div><p style="margin:0;height:50px;background:rgb(255,0,0)">')
  for (const parameters of [{ full_page: true }, { pdf_single_page: true }, { full_page: true, pdf_scale: 2 }]) {
    const { bytes, warnings } = await shoot({ html: tall, format: 'pdf', ...parameters })
    const [[width, height] = [0, 0], ...others] = readPageSizes(bytes)
    t.ok(width <= 14_400 && height <= 14_400 && height > 14_000, `${width} x ${height} points`)
    t.strictSame([others, warnings, fillsRed(bytes)], [[], [], true])
  }
})
