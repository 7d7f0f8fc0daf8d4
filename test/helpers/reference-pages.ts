import type { Browser } from 'playwright'
import sharp from 'sharp'
import type { Test } from 'tap'
import type { Route } from '#test/fixtures/pages/pages.ts'
import type { ReferenceFamily, ReferencePage } from '#test/fixtures/reference/page.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { keepPictures } from '#test/helpers/keep-pictures.ts'
import { pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'
import { similarity } from '#test/helpers/similarity.ts'

const similarityMin = 0.98
/** Tolerance per colour channel between two ways of blending the same colour. */
const tolerance = 3
const viewport = { width: 800, height: 600 }

const pagePath = ({ name }: ReferencePage) => `/${name.replaceAll(/[^a-z0-9]+/gi, '-')}`

const documentOf =
  ({ body, headers }: ReferencePage): Route =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
    response.end(`<!doctype html><html lang="en"><title>reference</title><style>body { margin: 0 }</style>${body}`)
  }

/** Screenshot of a page by plain Playwright. */
const takeReference = async (browser: Browser, url: string, page: ReferencePage): Promise<Buffer> => {
  const context = await browser.newContext({ viewport, locale: 'en-US', timezoneId: 'UTC', ...page.context })
  try {
    const opened = await context.newPage()
    await opened.goto(url, { waitUntil: 'load' })
    await page.steps?.(opened)
    return await opened.screenshot({ fullPage: page.parameters?.full_page ?? false })
  } finally {
    await context.close()
  }
}

const hex = (channels: readonly number[]) => Buffer.from(channels).toString('hex')

/** Differences from the page's hand-written expectations. */
const findProblems = async (picture: Uint8Array, { places, size, context }: ReferencePage): Promise<string[]> => {
  const { width, height } = await sharp(picture).metadata()
  const { width: ownWidth, height: ownHeight } = context?.viewport ?? viewport
  const expected = (size ?? [ownWidth, ownHeight]).join(' x ')
  const problems = expected === `${width} x ${height}` ? [] : [`${width} x ${height} px, not ${expected}`]
  for (const [x, y, colour] of places) {
    const actual = x < width && y < height ? await pixel({ bytes: picture }, x, y) : []
    const isNear = [...Buffer.from(colour, 'hex')].every(
      (value, at) => Math.abs(value - (actual[at] ?? 999)) <= tolerance,
    )
    if (!isNear) problems.push(`${hex(actual)} at ${x}, ${y}, not ${colour}`)
  }
  return problems
}

/**
 * Captures each page of a family with the capture engine and with plain Playwright and the same browser: both pictures must
 * match and have the colours that the page defines, and both checks must fail once the page is broken.
 */
export const testReferencePages = async (t: Test, family: ReferenceFamily): Promise<void> => {
  const documents = Object.fromEntries(family.pages.map((page) => [pagePath(page), documentOf(page)]))
  const { pages, shoot } = await startCaptureEnvironment(t, { ...family.routes, ...documents })
  // The engine's setting: rotated out-of-process frames are smoothed differently.
  const browser = await startBareBrowser(['--site-per-process'])
  t.teardown(() => browser.close())

  let caughtByComparison = 0
  for (const page of family.pages) {
    const { todo = false } = page
    t.test(`${family.name}: ${page.name}: matches a bare browser, and a defect is caught`, { todo }, async (t) => {
      const url = pages.url + pagePath(page)
      const parameters = { url, ...viewport, ...page.parameters }
      const { bytes } = await shoot(parameters)
      let reference = await takeReference(browser, url, page)
      let likeness = await similarity(bytes, reference)
      // Under load, a bare browser may take its picture before it has drawn a frame of another site.
      for (let repeat = 0; likeness < similarityMin && repeat < 2; repeat += 1) {
        reference = await takeReference(browser, url, page)
        likeness = await similarity(bytes, reference)
      }
      const faults = await findProblems(bytes, page)
      if (likeness < similarityMin || faults.length > 0) {
        const folder = await keepPictures(pagePath(page), { ours: bytes, reference })
        t.fail(
          `similarity ${likeness.toFixed(4)}, at least ${similarityMin}; ${faults.join('; ')}; pictures in ${folder}`,
        )
      }
      const broken = await shoot({ ...parameters, css: page.defect })
      const differs = (await similarity(broken.bytes, reference)) < similarityMin
      if (differs) caughtByComparison += 1
      t.ok(differs || (await findProblems(broken.bytes, page)).length > 0, `${page.defect} is seen`)
      t.comment(`similarity ${likeness.toFixed(5)}`)
    })
  }
  t.test(`${family.name}: the comparison catches defects by itself`, async (t) => {
    t.ok(caughtByComparison >= family.pages.length / 2, `${caughtByComparison} of ${family.pages.length}`)
  })
}
