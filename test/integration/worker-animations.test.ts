import sharp from 'sharp'
import t from 'tap'
import { content } from '#test/fixtures/reference/page.ts'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const go = '@keyframes go { to { background: rgb(0,0,255) } }'
const framed = `<style>${go} body { margin: 0; height: 100vh; animation: go 100s forwards }</style><body>`

const svgOf = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90">${inner}</svg>`
const bar = '<rect width="90" height="90" fill="rgb(0,0,255)"/>'
const appearing = svgOf(
  `<g opacity="0">${bar}<animate attributeName="opacity" from="0" to="1" begin="9s" dur="3s" fill="freeze"/></g>`,
)
/** A page that shows an image of its own or of another origin, and turns green once it can read a copy of it. */
const reading = `<body style="margin:0;background:red"><script>
  const image = new Image()
  image.src = (location.hash ? location.origin.replace(location.hostname, 'localhost') : '') + '/appearing.svg'
  document.body.append(image)
  const turn = () => { document.body.style.background = 'lime' }
  onload = () => new MutationObserver(turn).observe(image, { attributes: true })
</script>`

const { pages, shoot } = await startCaptureEnvironment(t, {
  '/framed': content('text/html', framed),
  '/appearing.svg': content('image/svg+xml', appearing),
  '/reading': content('text/html', reading),
})
const otherSite = `http://localhost:${pages.host.split(':')[1]}`

const box = 'width:100px;height:100px'
const shownAt = async (body: string, parameters: object = {}) =>
  await pixel(await shoot({ html: redPage(`<style>${go}</style>${body}`), ...parameters }), 50, 50)

t.test('worker animations: an animation is shown at its end, unless it is allowed to run', async (t) => {
  const body = `<div style="${box};animation:go 100s 10s both"></div>`
  t.strictSame(await shownAt(body), blue)
  t.strictSame(await shownAt(body, { animations: 'allow' }), red)
})

t.test('worker animations: a transition is shown at its end, and so is one that its end starts', async (t) => {
  const body = `<div style="${box};background:lime;transition:all 100s"></div><script>
    const box = document.querySelector('div')
    box.addEventListener('transitionend', () => { box.style.background = 'rgb(0,0,255)' }, { once: true })
    onload = () => requestAnimationFrame(() => { box.style.background = 'red' })</script>`
  t.strictSame(await shownAt(body), blue)
})

t.test(
  'worker animations: an endless animation is held at its start, one that the page has paused where it stands',
  async (t) => {
    const turn = '<style>@keyframes turn { from { background: rgb(0,0,255) } to { background: lime } }</style>'
    t.strictSame(await shownAt(`${turn}<div style="${box};animation:turn .1s 100s infinite alternate"></div>`), blue)
    const paused = `<div style="${box};animation:go 100s linear -100s paused both"></div>`
    t.strictSame(await shownAt(paused), blue)
  },
)

t.test('worker animations: animations of an SVG are shown at their end, endless ones at their start', async (t) => {
  const drawn = (animation: string) =>
    `<svg style="display:block" width="100" height="100"><rect width="100" height="100" fill="rgb(0,0,255)">${animation}</rect></svg>`
  const fill = (more: string) => `<animate attributeName="fill" from="lime" to="rgb(0,0,255)" dur="100s" ${more}/>`
  t.strictSame(await shownAt(drawn(fill('fill="freeze"'))), blue)
  t.strictSame(await shownAt(drawn(fill('begin="5s" repeatCount="3" fill="freeze"'))), blue)
  const mistaken = '<animate attributeName="x" to="0" dur="1s" repeatCount="infinite"/>'
  t.strictSame(await shownAt(drawn(fill('fill="freeze"') + mistaken)), blue)
  const endless = '<animate attributeName="fill" values="rgb(0,0,255);lime" dur=".1s" repeatCount="indefinite"/>'
  t.strictSame(await shownAt(drawn(endless)), blue)
  t.not((await shownAt(drawn(fill('fill="freeze"')), { animations: 'allow' })).join(), blue.join())
})

t.test('worker animations: animations in shadow roots and frames are finished too', async (t) => {
  const inside = `<style>${go} p { margin: 0; ${box}; animation: go 100s forwards }</style><p></p>`
  for (const mode of ['open', 'closed']) {
    t.strictSame(await shownAt(`<x-box><template shadowrootmode="${mode}">${inside}</template></x-box>`), blue, mode)
  }
  for (const origin of [pages.url, otherSite]) {
    t.strictSame(await shownAt(`<iframe src="${origin}/framed" style="border:0;${box}"></iframe>`), blue, origin)
  }
})

t.test('worker animations: drawing on a canvas is awaited', async (t) => {
  const body = `<canvas width="100" height="100"></canvas><script>
    const context = document.querySelector('canvas').getContext('2d')
    let steps = 0
    const draw = () => {
      steps += 1
      context.fillStyle = steps < 20 ? 'rgb(' + steps + ',255,0)' : 'rgb(0,0,255)'
      context.fillRect(0, 0, 100, 100)
      if (steps < 20) requestAnimationFrame(draw)
    }
    onload = () => requestAnimationFrame(draw)</script>`
  t.strictSame(await shownAt(body), blue)
})

t.test('worker animations: the same page gives the same bytes', async (t) => {
  const html = redPage(
    `<style>${go} @keyframes turn { to { rotate: 360deg } }</style><div style="${box};animation:go 1s forwards"></div>
    <div style="${box};background:conic-gradient(lime,blue);animation:turn .7s infinite linear"></div><p style="font:20px serif">text</p>`,
  )
  const hashes = new Set<string>()
  for (let shot = 0; shot < 10; shot += 1) hashes.add((await shoot({ html })).sha256)
  t.equal(hashes.size, 1)
})

const moving = async () => {
  const frames = ['rgb(0,0,255)', 'red', 'lime', 'yellow'].map((background) =>
    sharp({ create: { width: 9, height: 9, channels: 3, background } })
      .png()
      .toBuffer(),
  )
  const joined = sharp(await Promise.all(frames), { join: { animated: true } })
  const delay = frames.map(() => 70)
  const files = { gif: joined.clone().gif({ delay }), webp: joined.clone().webp({ delay, lossless: true }) }
  const encoded = Object.entries(files).map(
    async ([type, file]) => `data:image/${type};base64,${(await file.toBuffer()).toString('base64')}`,
  )
  return await Promise.all(encoded)
}

t.test('worker animations: animated images and marquees are held at their start, in every picture', async (t) => {
  const images = await moving()
  const tall = 'display:block;width:100px;height:100px'
  const drawn = images.map(
    (url) => `<img style="${tall}" src="${url}"><div style="${tall};background:url('${url}')"></div>`,
  )
  const html = redPage(`${drawn.join('')}<marquee style="height:50px">text</marquee>`)
  const hashes = new Set<string>()
  for (const delay_ms of [0, 90, 230]) {
    const shot = await shoot({ html, delay_ms, height: 900 })
    hashes.add(shot.sha256)
    for (let at = 0; at < drawn.length * 2; at += 1) t.strictSame(await pixel(shot, 50, at * 100 + 50), blue, `${at}`)
  }
  t.equal(hashes.size, 1)
})

const movingImages = {
  'an endless animation': `${bar}<rect width="9" height="90"><animate attributeName="x" from="0" to="90" dur=".7s" repeatCount="indefinite"/></rect>`,
  'an endless animation by styles': `<style>@keyframes go { to { translate: 90px } } .go { animation: go .9s linear infinite }</style>${bar}<rect class="go" width="9" height="90"/>`,
  'a fading in by styles': `<style>@keyframes in { from { opacity: 0 } } g { animation: in 3s 1s both }</style><g>${bar}</g>`,
  'a fading in': `<g opacity="0">${bar}<animate attributeName="opacity" from="0" to="1" begin="1s" dur="3s" fill="freeze"/></g>`,
}

t.test(
  'worker animations: an SVG image of another origin stays as it is, as the page could read its copy',
  async (t) => {
    const own = await shoot({ url: `${pages.url}/reading` })
    t.strictSame([await pixel(own, 50, 50), await pixel(own, 50, 200)], [blue, [0, 255, 0]])
    const other = await shoot({ url: `${pages.url}/reading#other` })
    t.strictSame([await pixel(other, 50, 50), await pixel(other, 50, 200)], [red, red])
  },
)

t.test('worker animations: animations in SVG images are shown at their end, endless ones not at all', async (t) => {
  for (const [what, inner] of Object.entries(movingImages)) {
    const address = `data:image/svg+xml,${encodeURIComponent(svgOf(inner))}`
    const html = redPage(
      `<img src="${address}"><picture><source srcset="${address}"><img></picture><p style="margin:0;width:90px;height:90px;background:url('${address.replaceAll("'", '%27')}')">`,
    )
    const hashes = new Set<string>()
    for (const delay_ms of [0, 110, 230]) {
      const shot = await shoot({ html, delay_ms })
      hashes.add(shot.sha256)
      for (const [x, y] of [
        [50, 50],
        [150, 50],
        [50, 150],
      ] as const)
        t.strictSame(await pixel(shot, x, y), blue, `${what} ${x} ${y}`)
    }
    t.equal(hashes.size, 1, what)
  }
  const still = `<meta http-equiv="content-security-policy" content="img-src 'none'"><img alt="text">`
  t.match(await shoot({ html: redPage(still) }), { warnings: [] })
})
