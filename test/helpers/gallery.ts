import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright'
import sharp from 'sharp'
import type { Test } from 'tap'
import type { GalleryFamily, GalleryPage } from '#test/fixtures/gallery/page.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { keepPictures } from '#test/helpers/keep-pictures.ts'
import { sendFile } from '#test/helpers/serve-folder.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'
import { similarity } from '#test/helpers/similarity.ts'

const root = resolve(import.meta.dirname, '../..')
/** Installed by scripts/install-gallery.sh. */
const packages = resolve(root, '.tools/gallery/node_modules')
const viewport = { width: 1280, height: 800 }
/** Least similarity of a page's picture and that of a bare browser. */
const least = 0.98
/** Tolerance per colour channel. */
const tolerance = 3
/** Pauses of a patient script in a bare browser: between steps of scrolling, and before the shot. */
const [stepMs, restMs] = [150, 1500]
/** Longest wait for a network that is idle again after scrolling. */
const idleMs = 15_000

/** Throws if the libraries that the pages use are missing. */
export const assertInstalled = (): void => {
  if (!existsSync(packages)) throw new Error(`${packages} is missing; run: scripts/install-gallery.sh`)
}

/** Path of a page's document. */
export const pagePath = ({ name }: GalleryPage) => `/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`

const tagOf = (path: string) =>
  path.endsWith('.css')
    ? `<link rel="stylesheet" href="/packages/${path}">`
    : `<script src="/packages/${path}"></script>`

const documentOf =
  ({ name, uses = [], body }: GalleryPage): Route =>
  (_request, response) => {
    const style = '<style>body { margin: 0; font-family: sans-serif }</style>'
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(
      `<!doctype html><html lang="en"><head><title>${name}</title>${style}${uses.map(tagOf).join('')}</head><body>${body}</body></html>`,
    )
  }

/** Answers after the request's `delay` in milliseconds, with what `bodyOf` makes of its address. */
const delayed =
  (type: string, bodyOf: (url: URL) => string): Route =>
  async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://gallery')
    await delay(Number(url.searchParams.get('delay') ?? 0))
    response.writeHead(200, { 'content-type': type }).end(bodyOf(url))
  }

const colourPicture = delayed('image/svg+xml', ({ pathname }) => {
  const colour = /[0-9a-f]{6}/.exec(pathname)?.[0] ?? '000000'
  return `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="#${colour}"/></svg>`
})

/** Routes of pages of the gallery, and of what they load. */
export const galleryRoutes = (pages: readonly GalleryPage[]): Readonly<Record<string, Route>> => ({
  ...Object.fromEntries(pages.map((page) => [pagePath(page), documentOf(page)])),
  '/data': delayed('application/json', ({ searchParams }) => searchParams.get('json') ?? 'null'),
  '/parts': delayed('text/html', () => '<div class="card" style="height:500px;background:#1a7f37">Parts</div>'),
  '/docs/README.md': delayed('text/markdown', () => '# Tides\n\n> What they are\n\nText'),
  '/openapi.json': (_request, response) => void sendFile(root, 'docs/openapi.json', response),
  '*': (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://gallery')
    if (pathname.startsWith('/pictures/')) return colourPicture(request, response)
    void sendFile(packages, pathname.replace(/^\/packages\//, ''), response)
  },
})

/** Colours of a page that cover less of a picture than they must, as text. */
export const missingColours = async (picture: Uint8Array, { shows }: Pick<GalleryPage, 'shows'>): Promise<string[]> => {
  const { data } = await sharp(picture).removeAlpha().toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
  return Object.entries(shows).flatMap(([colour, share]) => {
    const [red = 0, green = 0, blue = 0] = Buffer.from(colour.slice(1), 'hex')
    let found = 0
    for (let at = 0; at < data.length; at += 3) {
      const isNear =
        Math.abs(data[at]! - red) <= tolerance &&
        Math.abs(data[at + 1]! - green) <= tolerance &&
        Math.abs(data[at + 2]! - blue) <= tolerance
      if (isNear) found += 1
    }
    const thousandths = Math.round((3000 * found) / data.length)
    return thousandths < share ? [`${colour} covers ${thousandths} ‰, not ${share}`] : []
  })
}

/** What a patient script does for a page: scroll through it, wait for the network and then for what moves. */
const scrollThrough = async (page: Page) => {
  const height = await page.evaluate('document.documentElement.scrollHeight')
  for (let top = 0; top < Number(height); top += viewport.height / 2) {
    await page.evaluate(`scrollTo({ top: ${top}, behavior: 'instant' })`)
    await page.waitForTimeout(stepMs)
  }
  await page.evaluate(`scrollTo({ top: 0, behavior: 'instant' })`)
}

/** A page in a bare browser: its picture, and one without the subject. */
const takeBare = async (browser: Browser, url: string, { parameters = {}, subject }: GalleryPage) => {
  const { full_page: fullPage = false, dark_mode: isDark = false } = parameters
  const context = await browser.newContext({
    viewport,
    locale: 'en-US',
    timezoneId: 'UTC',
    colorScheme: isDark ? 'dark' : 'light',
  })
  try {
    const page = await context.newPage()
    await page.goto(url, { waitUntil: 'networkidle' })
    if (fullPage) await scrollThrough(page)
    // Playwright may miss that a network is idle again which was idle before; a page that is still loading looks different.
    await page.waitForLoadState('networkidle', { timeout: idleMs }).catch(() => {})
    await page.waitForTimeout(restMs)
    const picture = await page.screenshot({ fullPage, animations: 'disabled' })
    await page.addStyleTag({ content: `${subject} { opacity: 0 !important }` })
    const without = await page.screenshot({ fullPage, animations: 'disabled' })
    return { picture, without }
  } finally {
    await context.close()
  }
}

/** Serves a family and starts both browsers; `shootPage` captures a page with the engine, `bare` with plain Playwright. */
export const startGallery = async (lifetime: Parameters<typeof startCaptureEnvironment>[0], family: GalleryFamily) => {
  assertInstalled()
  const { pages, shoot } = await startCaptureEnvironment(lifetime, galleryRoutes(family.pages))
  const browser = await startBareBrowser(['--site-per-process'])
  lifetime.teardown(() => browser.close())
  const shootPage = (page: GalleryPage) => shoot({ url: pages.url + pagePath(page), timeout: 10, ...page.parameters })
  return { shootPage, bare: (page: GalleryPage) => takeBare(browser, pages.url + pagePath(page), page) }
}

/**
 * Captures each page of a family: what must be seen is there, a second capture has the same bytes, and the picture is that of
 * a bare browser, except where the page says why it differs. Without its subject a page must be found wanting.
 */
export const testGallery = async (t: Test, family: GalleryFamily): Promise<void> => {
  const { shootPage, bare } = await startGallery(t, family)
  const taken = new Map<GalleryPage, ReturnType<typeof bare>>()
  /** Takes a page while the one before it is tested: a patient script mostly waits. */
  const bareAhead = (page: GalleryPage) => {
    const known = taken.get(page) ?? bare(page)
    known.catch(() => {})
    taken.set(page, known)
    return known
  }
  for (const [at, page] of family.pages.entries()) {
    t.test(`${family.name}: ${page.name}: is shown, the same twice, and as a bare browser shows it`, async (t) => {
      const reference = bareAhead(page)
      const [following] = family.pages.slice(at + 1)
      if (following) void bareAhead(following)
      const { bytes, sha256, warnings } = await shootPage(page)
      t.same(warnings, [])
      t.equal((await shootPage(page)).sha256, sha256, 'equal bytes')
      const { picture, without } = await reference
      const faults = await missingColours(bytes, page)
      const likeness = await similarity(bytes, picture)
      if (page.differs === undefined && likeness < least) faults.push(`similarity ${likeness.toFixed(4)}, not ${least}`)
      if (faults.length > 0) {
        const folder = await keepPictures(pagePath(page), { ours: bytes, reference: picture })
        t.fail(`${faults.join('; ')}; pictures in ${folder}`)
      }
      t.not((await missingColours(without, page)).length, 0, `${page.subject} hidden is seen`)
      t.comment(`similarity ${likeness.toFixed(5)}`)
    })
  }
}
