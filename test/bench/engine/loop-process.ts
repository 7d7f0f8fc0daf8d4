import type { Browser, Page } from 'playwright'
import sharp from 'sharp'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import type { Shot, Taken } from './contender.ts'

// The loop that the service is compared with: bare Playwright, one browser, a fresh context for each capture. It takes what
// its parent sends, and reports each picture.

const quality = 80

/** The formats that Playwright does not know are made of its png, as the service makes them of the browser's. */
const encode = (png: Buffer, format: Shot['format']): Promise<Buffer> => {
  const image = sharp(png, { limitInputPixels: false })
  if (format === 'webp') return image.webp({ quality, effort: 2 }).toBuffer()
  if (format === 'avif') return image.avif({ quality, effort: 0 }).toBuffer()
  return image.tiff({ compression: 'deflate', predictor: 'horizontal' }).toBuffer()
}

const shoot = async (page: Page, { full_page: fullPage = false, format }: Shot): Promise<Buffer> => {
  if (format === 'jpeg') return await page.screenshot({ type: 'jpeg', quality, fullPage })
  const png = await page.screenshot({ type: 'png', fullPage })
  return format === 'png' ? png : await encode(png, format)
}

const take = async (browser: Browser, shot: Shot): Promise<Taken> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ignoreHTTPSErrors: true })
  try {
    const page = await context.newPage()
    if (shot.url === undefined) await page.setContent(shot.html ?? '', { waitUntil: 'load' })
    else await page.goto(shot.url, { waitUntil: 'load' })
    return { bytes: (await shoot(page, shot)).length }
  } finally {
    await context.close()
  }
}

/** Not missed where the parent is gone. */
const report = (what: object) => process.send?.(what, () => {})

const browser = await startBareBrowser()
process.on('message', ({ number, shot }: { number: number; shot: Shot }) => {
  void take(browser, shot).then(
    (taken) => report({ number, taken }),
    (error: unknown) => report({ number, error: String(error) }),
  )
})
process.once('disconnect', () => void browser.close())
report({})
