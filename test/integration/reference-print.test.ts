import t from 'tap'
import { type PrintedPage, printed } from '#test/fixtures/reference/print.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { readPageSizes, streamsOf } from '#test/helpers/pdf.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

const { shoot } = await startCaptureEnvironment(t)
const browser = await startBareBrowser()
t.teardown(() => browser.close())

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
    const { bytes } = await shoot(parameters)
    t.equal(readPageSizes(bytes).length, page.pages)
    t.strictSame(readPageSizes(bytes), readPageSizes(reference))
    t.ok(streamsOf(reference).length > 0)
    t.ok(streamsOf(bytes).join('\n') === streamsOf(reference).join('\n'), 'equal streams')
    const broken = await shoot({ ...parameters, css: page.defect })
    t.not(streamsOf(broken.bytes).join('\n'), streamsOf(reference).join('\n'))
  })
}
