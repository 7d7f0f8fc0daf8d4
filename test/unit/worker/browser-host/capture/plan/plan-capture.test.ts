import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { captureParameters, type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { planCapture } from '#worker/browser-host/capture/plan/plan-capture.ts'

const plan = (parameters: CaptureParameters) =>
  planCapture(withDefaults(parameters.html === undefined ? { url: 'https://example.com/', ...parameters } : parameters))

t.test('plan capture: a table decides between parameters that exclude each other', async (t) => {
  const rows: [name: string, parameters: CaptureParameters, want: object][] = [
    ['nothing asked for', {}, { emulation: { width: 1280, height: 800, scale: 1, isMobile: false, timezone: 'UTC' } }],
    ['the viewport', {}, { subject: { kind: 'viewport' }, output: { format: 'png', fit: undefined } }],
    ['a page on paper', { format: 'pdf' }, { subject: { kind: 'pages' } }],
    ['a full page', { full_page: true }, { subject: { kind: 'full-page', isCutToWidth: false } }],
    ['on a device with touch', { full_page: true, device: 'ipad_pro_13' }, { subject: { isCutToWidth: true } }],
    ['in a narrow viewport', { full_page: true, width: 599 }, { subject: { isCutToWidth: true } }],
    [
      'at the width of its content',
      { full_page: true, device: 'mobile', full_page_width: 'content' },
      { subject: { isCutToWidth: false } },
    ],
    ['an element wins over the full page', { full_page: true, selector: '#a' }, { subject: { kind: 'element' } }],
    ['a device', { device: 'mobile' }, { emulation: { width: 375, height: 812, scale: 1, isMobile: true } }],
    ['a device and a width', { device: 'mobile', width: 400 }, { emulation: { width: 400, height: 812 } }],
    ['a device and a user agent', { device: 'tablet', user_agent: 'Me/1' }, { emulation: { userAgent: 'Me/1' } }],
    ['a device and retina', { device: 'tablet', retina: true }, { emulation: { width: 768, scale: 2 } }],
    ['a fit on one side', { resize_height: 100 }, { output: { fit: { width: undefined, height: 100 } } }],
    ['a pdf is not resized', { format: 'pdf', resize_width: 100 }, { output: { kind: 'pdf', fit: undefined } }],
    ['no headers', { headers: {} }, { headers: undefined }],
    ['headers', { headers: { a: 'b' } }, { headers: { origins: ['https://example.com'], values: { a: 'b' } } }],
    [
      'headers from http',
      { url: 'http://[::1]/', headers: { a: 'b' }, header_origins: ['https://api.example.com:443/'] },
      { headers: { origins: ['http://[::1]', 'https://[::1]', 'https://api.example.com'], values: { a: 'b' } } },
    ],
    [
      'headers from http on another port',
      { url: 'http://example.com:8080/', headers: { a: 'b' } },
      { headers: { origins: ['http://example.com:8080'], values: { a: 'b' } } },
    ],
    ['headers of an html source', { html: 'x', headers: { a: 'b' } }, { headers: undefined }],
    ['an html source', { html: 'x' }, { source: { html: 'x' } }],
  ]
  for (const [name, parameters, want] of rows) t.match(plan(parameters), want, name)
})

t.test('plan capture: PDF pages have the documented sizes and margins, in inches', async (t) => {
  const planPage = (parameters: CaptureParameters) => {
    const { output } = plan({ format: 'pdf', ...parameters })
    return output.kind === 'pdf' ? output.page : undefined
  }
  const near = (got: number | undefined, want: number) => Math.abs((got ?? 0) - want) < 0.001
  t.ok(near(planPage({})?.width, 8.2677) && near(planPage({})?.height, 11.6929))
  t.ok(near(planPage({ pdf_landscape: true })?.width, 11.6929))
  t.ok(near(planPage({ pdf_page_format: 'Tabloid' })?.height, 17))
  t.ok(near(planPage({})?.margins.left, 10 / 25.4))
  for (const margin of ['1in', '96px', '2.54cm', '25.4mm', '72pt', '6pc', '101.6Q', '6em', '6rem']) {
    t.ok(near(planPage({ pdf_margin_top: margin })?.margins.top, 1), margin)
  }
  t.equal(planPage({ pdf_margin_bottom: '0' })?.margins.bottom, 0)
})

const folder = resolve(import.meta.dirname, '../../../../../../docs/examples/parameters')
const examples = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as CaptureParameters,
)

/** Parameters that can be removed from every example without a change of its plan. */
const unplanned = (planOf: typeof planCapture): string[] =>
  Object.keys(captureParameters.properties).filter((name) =>
    examples.every((example) => {
      const { [name as keyof CaptureParameters]: _, ...others } = example
      return isDeepStrictEqual(planOf(withDefaults(example)), planOf(withDefaults(others)))
    }),
  )

t.test(
  'plan capture: each parameter changes the plan of its example, except those of the relay and the gateway',
  async (t) => {
    const relay = ['proxy']
    const gateway = ['cache_ttl', 'webhook_url', 'upload_to', 'upload_key', 'response_type']
    t.strictSame(unplanned(planCapture), ['filename', ...relay, ...gateway])
  },
)

t.test('plan capture: detects a parameter that no plan uses', async (t) => {
  t.ok(unplanned((options) => planCapture({ ...options, retina: false })).includes('retina'))
})
