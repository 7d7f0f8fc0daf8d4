import t from 'tap'
import { ignoredOptions } from '#shared/capture/ignored-options.ts'

// Contract: `quality` with png, tiff, pdf
t.test('a quality that was supplied for a format without one is named', async (t) => {
  for (const format of ['png', 'tiff', 'pdf']) {
    t.match(ignoredOptions({ format, quality: 50 }), [{ code: 'quality_ignored', message: new RegExp(format) }])
    t.strictSame(ignoredOptions({ format }), [], 'a default is not supplied')
  }
  for (const format of ['jpeg', 'webp', 'avif']) t.strictSame(ignoredOptions({ format, quality: 50 }), [])
})
