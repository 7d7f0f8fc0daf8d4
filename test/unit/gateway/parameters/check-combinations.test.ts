import t from 'tap'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'

const url = 'https://example.com/'
const combinationErrors = (input: unknown): FieldErrors => {
  const verdict = parseCapture(input, { allow: [], hasStealth: true })
  return verdict.ok ? {} : verdict.errors
}

t.test('check combinations: scale is bounded by the device pixels of the viewport', async (t) => {
  const most = (scale: number) => ({ scale: [`must be at most ${scale} for a viewport of 3840 x 2160`] })
  const large = { url, width: 3840, height: 2160 }
  t.same(combinationErrors({ ...large, scale: 2 }), {})
  t.same(combinationErrors({ ...large, scale: 2.01 }), most(2))
  t.same(combinationErrors({ ...large, device: 'iphone_16' }), most(2))
  t.same(combinationErrors({ ...large, device: 'iphone_16', retina: true }), {})
  t.same(combinationErrors({ url, scale: 4 }), {})
  t.match(combinationErrors({ url, scale: 4.1 }), { scale: [/4/] })
})

t.test('check combinations: a locale is a language tag, a placed resize has both sizes', async (t) => {
  for (const locale of ['de', 'fr-CA', 'zh-Hant-TW']) t.same(combinationErrors({ url, locale }), {}, locale)
  for (const locale of ['deutsch!', 'x', 'fr_CA']) {
    t.same(combinationErrors({ url, locale }), { locale: ['must be a BCP 47 language tag such as fr-CA'] }, locale)
  }
  const placed = { url, resize_mode: 'cover', resize_width: 100 }
  t.same(combinationErrors(placed), { resize_mode: ['needs resize_width and resize_height unless it is fit'] })
  t.same(combinationErrors({ ...placed, resize_height: 100 }), {})
})

t.test('check combinations: the sides of a page are bounded, and its margins by them', async (t) => {
  const range = ['must be from 25mm to 2000mm']
  t.same(combinationErrors({ url, pdf_width: '25mm', pdf_height: '2000mm' }), {})
  t.same(combinationErrors({ url, pdf_width: '24mm', pdf_height: '79in' }), { pdf_width: range, pdf_height: range })
  t.same(combinationErrors({ url, pdf_width: '100mm', pdf_margin_left: '51mm' }), {
    pdf_margin_left: ['must be at most half the page (50mm of its size)'],
  })
  t.match(combinationErrors({ url, pdf_page_ranges: '0-2' }), {
    pdf_page_ranges: [/page numbers and ranges such as 1-3,5/],
  })
})
