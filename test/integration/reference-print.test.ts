import { inflateSync } from 'node:zlib'
import t from 'tap'
import { type PrintedPage, printed } from '#test/fixtures/reference/print.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { startCaptures } from '#test/helpers/shots.ts'

const { shotOf } = await startCaptures(t)
const browser = await startBareBrowser()
t.teardown(() => browser.close())

/** The decompressed streams of a PDF; metadata such as the producer and the date is not in streams. */
const drawnIn = (pdf: Uint8Array): string[] => {
  const text = Buffer.from(pdf).toString('latin1')
  const streams = [...text.matchAll(/stream\r?\n([^]*?)\r?\nendstream/g)]
  return streams.map(([, bytes = '']) => {
    try {
      return inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1')
    } catch {
      return bytes
    }
  })
}

const boxesOf = (pdf: Uint8Array) =>
  [
    ...Buffer.from(pdf)
      .toString('latin1')
      .matchAll(/\/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]/g),
  ].map(([, ...size]) => size)

const printBare = async (page: PrintedPage, html: string): Promise<Buffer> => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    timezoneId: 'UTC',
  })
  try {
    const opened = await context.newPage()
    await opened.setContent(html, { waitUntil: 'load' })
    const [top, right, bottom, left] = Array.from({ length: 4 }, () => '10mm') as [string, string, string, string]
    const margin = { top, right, bottom, left }
    if (!page.isWhole)
      return await opened.pdf({ width: '210mm', height: '297mm', margin, printBackground: true, tagged: true })
    await opened.emulateMedia({ media: 'screen' })
    const height = Number(await opened.evaluate('document.documentElement.scrollHeight'))
    const around = (20 / 25.4) * 96
    const size = { width: `${1280 + around}px`, height: `${height + around}px` }
    return await opened.pdf({ ...size, margin, printBackground: true, pageRanges: '1', tagged: true })
  } finally {
    await context.close()
  }
}

for (const page of printed) {
  t.test(`print: ${page.name}: equals the PDF of a bare browser, and a defect is detected`, async (t) => {
    const html = `<!doctype html><html lang="en"><title>printed</title>${page.body}`
    const parameters = { html, format: 'pdf', full_page: page.isWhole ?? false } as const
    const reference = await printBare(page, html)
    const { bytes } = await shotOf(parameters)
    t.equal(boxesOf(bytes).length, page.pages)
    t.strictSame(boxesOf(bytes), boxesOf(reference))
    t.ok(drawnIn(reference).length > 0)
    t.ok(drawnIn(bytes).join('\n') === drawnIn(reference).join('\n'), 'equal streams')
    const broken = await shotOf({ ...parameters, css: page.defect })
    t.not(drawnIn(broken.bytes).join('\n'), drawnIn(reference).join('\n'))
  })
}
