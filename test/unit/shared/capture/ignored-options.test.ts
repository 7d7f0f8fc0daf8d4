import t from 'tap'
import type { EchoedOptions } from '#shared/capture/echo-options.ts'
import { ignoredOptions } from '#shared/capture/ignored-options.ts'

// Contract: `quality` with png, tiff, pdf
t.test('ignored options: warns about a quality supplied for a format without one', async (t) => {
  for (const format of ['png', 'tiff', 'pdf']) {
    t.match(ignoredOptions({ format, quality: 50 }), [{ code: 'quality_ignored', message: new RegExp(format) }])
    t.strictSame(ignoredOptions({ format }), [], 'a default is not supplied')
  }
  for (const format of ['jpeg', 'webp', 'avif']) t.strictSame(ignoredOptions({ format, quality: 50 }), [])
})

// Contract: Parameters that do not apply
t.test('ignored options: warns about parameters that do not apply to the format or the source', async (t) => {
  const named = (options: EchoedOptions) => ignoredOptions(options).map(({ code, message }) => `${code}: ${message}`)
  t.strictSame(named({ format: 'png', pdf_page_format: 'A4', pdf_landscape: false, pdf_margin_top: '1in' }), [
    'parameter_ignored: pdf_page_format does not apply to png.',
    'parameter_ignored: pdf_margin_top does not apply to png.',
  ])
  t.strictSame(named({ format: 'pdf', pdf_landscape: true, resize_width: 400, resize_height: 300 }), [
    'parameter_ignored: resize_width does not apply to pdf.',
    'parameter_ignored: resize_height does not apply to pdf.',
  ])
  t.strictSame(named({ format: 'png', resize_width: 400, headers: { 'X-A': '***' } }), [])
  for (const source of ['html', 'markdown'])
    t.strictSame(named({ format: 'png', source, headers: { 'X-A': '***' } }), [
      `parameter_ignored: headers does not apply to a source of ${source}.`,
    ])
  t.strictSame(named({ format: 'png', source: 'html', headers: {} }), [])
})
