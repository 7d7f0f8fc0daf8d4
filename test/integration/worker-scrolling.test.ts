import { spawn } from 'node:child_process'
import t from 'tap'
import { content } from '#test/fixtures/reference/page.ts'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const smooth = `<!doctype html><style>html { scroll-behavior: smooth } body { margin: 0 }</style><a href="#target">go</a>
  <p style="height:5000px">Before</p><section id="target" style="height:5000px;background:rgb(0,0,255)">Target</section>`

const { pages, shoot } = await startCaptureEnvironment(t, {
  '/late.json': (_request, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' })
    setTimeout(() => response.end('{}'), 400)
  },
  '/never.json': () => {},
  '/smooth': content('text/html', smooth),
  '/pixel.svg': content(
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="blue"/></svg>',
  ),
})

const boxes = 40
/** Boxes that turn blue when an observer of the page sees them, and stay so (`once`), or only while it does. */
const observed = (isOnce: boolean) =>
  redPage(`<style>div { height: 300px; outline: 1px solid black } .seen { background: rgb(0,0,255) }</style>${'<div></div>'.repeat(boxes)}<script>
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) ${isOnce ? "if (isIntersecting) target.classList.add('seen')" : "target.classList.toggle('seen', isIntersecting)"}
    })
    for (const box of document.querySelectorAll('div')) observer.observe(box)</script>`)

const unseenIn = async (shot: { bytes: Uint8Array }): Promise<number[]> => {
  const unseen: number[] = []
  for (let box = 0; box < boxes; box += 1) {
    const [r] = await pixel(shot, 50, box * 300 + 150)
    if (r !== 0) unseen.push(box)
  }
  return unseen
}

t.test('worker scrolling: the page is told of every part of a full page or an element', async (t) => {
  for (const parameters of [{ full_page: true }, { selector: 'body' }]) {
    t.same(await unseenIn(await shoot({ html: observed(true), ...parameters })), [])
  }
})

t.test('worker scrolling: elements that appear only while in view are part of a full page', async (t) => {
  t.same(await unseenIn(await shoot({ html: observed(false), full_page: true })), [])
})

t.test('worker scrolling: on a busy machine too', async (t) => {
  const busy = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  try {
    t.same(await unseenIn(await shoot({ html: observed(true), full_page: true, timeout: 30 })), [])
  } finally {
    for (const each of busy) each.kill('SIGKILL')
  }
})

t.test('worker scrolling: a page that cannot be scrolled through in time has a warning', async (t) => {
  const html = redPage(`<div style="height:19000px"></div><script>
    addEventListener('scroll', () => { for (const end = performance.now() + 900; performance.now() < end;); })</script>`)
  const { warnings } = await shoot({ html, full_page: true })
  t.match(warnings, [{ code: 'not_scrolled' }])
})

const app = (address: string, then: string) =>
  redPage(`<main style="height:200px">Loading…</main><script>
    onload = async () => {
      await (await fetch('${pages.url}${address}')).text()
      ${then}
    }</script>`)

t.test('worker scrolling: content that the page fetches is awaited', async (t) => {
  const html = app(
    '/late.json',
    `const image = new Image()
    image.src = '${pages.url}/pixel.svg'
    document.querySelector('main').replaceChildren(image)`,
  )
  t.strictSame(await pixel(await shoot({ html }), 50, 50), blue)
})

t.test('worker scrolling: a request that is not answered does not hold up a capture', async (t) => {
  const html = app('/never.json', "document.body.style.background = 'black'")
  t.strictSame(await pixel(await shoot({ html }), 50, 500), red)
})

t.test('worker scrolling: what scrolls smoothly is captured where it leads to', async (t) => {
  const url = `${pages.url}/smooth`
  const js = "document.querySelector('section').scrollIntoView({ behavior: 'smooth' })"
  for (const parameters of [
    { url: `${url}#target` },
    { url: `${url}#:~:text=Target` },
    { url, js },
    { url, click_selector: 'a' },
  ]) {
    t.strictSame(await pixel(await shoot(parameters), 900, 790), blue, JSON.stringify(parameters))
  }
})
