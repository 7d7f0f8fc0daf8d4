import { Type, type Static, type TSchema } from 'typebox'

const noControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
const noNul = '^[^\\u0000]*$'

/** Adds a default to the type of a schema, so that options with a default are never undefined. */
const byDefault = <Schema extends TSchema>(schema: Schema, value: Static<Schema>) =>
  Object.assign(schema, { default: value })

const line = (maxLength: number, minLength = 1) =>
  Type.String({
    minLength,
    maxLength,
    pattern: noControlCharacters,
    description: `a text of ${minLength} to ${maxLength} characters without control characters`,
  })
const source = () =>
  Type.String({
    minLength: 1,
    maxLength: 500_000,
    pattern: noNul,
    description: 'a text of 1 to 500000 characters without NUL',
  })
const code = () =>
  Type.String({
    maxLength: 10_000,
    pattern: noNul,
    description: 'a text of at most 10000 characters without NUL',
  })
const selector = () => line(500)
const length = () =>
  byDefault(
    Type.String({
      maxLength: 20,
      pattern: '^(0{1,6}(\\.0{1,4})?|\\.0{1,4}|(\\d{1,6}(\\.\\d{1,4})?|\\.\\d{1,4})(px|in|cm|mm|pt|pc|Q|em|rem))$',
      description: 'a number from 0 with one of px, in, cm, mm, pt, pc, Q, em, rem, at most half the page',
    }),
    '10mm',
  )
const flag = (value: boolean) => byDefault(Type.Boolean(), value)
const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })
const cookie = Type.Object(
  { name: line(4096), value: line(4096, 0), domain: Type.Optional(line(255)) },
  { additionalProperties: false },
)

/**
 * Documentation of a parameter; `more` appears only in docs/parameters.md. With `appliesTo`, a record has a warning if the
 * parameter is supplied for anything else.
 */
export type Doc = {
  readonly description: string
  readonly example: unknown
  readonly more?: string
  readonly appliesTo?: 'pdf' | 'image' | 'url'
  /** Why it is stored in plain text. */
  readonly plain?: string
}

/** Adds documentation; the schema's own description is for error messages. */
const withDoc = <Schema extends TSchema>(schema: Schema, doc: Doc) => Object.assign(schema, { doc })

const margin = (side: string) =>
  withDoc(length(), {
    description: `${side} margin of the pages of a PDF: a number with a unit, at most half the page.`,
    example: '20mm',
    more: 'The unit is px, in, cm, mm, pt, pc, Q, em or rem.',
    appliesTo: 'pdf',
  })

const neverEnlarged =
  'If both `resize_width` and `resize_height` are given, the image fits inside them. It is never enlarged.'

/** Every parameter by the groups of the contract, with bounds, default and description. Sources have no default. */
export const parameterGroups = {
  source: {
    url: withDoc(line(2048), {
      description: 'URL of the page to capture. It must be http or https, and public.',
      example: 'https://example.com/',
      plain: 'its origin only, by which operators see what is captured',
    }),
    html: withDoc(source(), {
      description: 'Raw HTML to capture. It is rendered at an opaque origin and may load public sub-resources.',
      example: '<h1>Hello</h1>',
    }),
    markdown: withDoc(source(), { description: 'Markdown to capture: CommonMark and GFM.', example: '# Hello' }),
  },
  viewport: {
    width: withDoc(byDefault(integer(320, 3840), 1280), {
      description: 'Width of the viewport in CSS pixels.',
      example: 1440,
    }),
    height: withDoc(byDefault(integer(200, 2160), 800), {
      description: 'Height of the viewport in CSS pixels.',
      example: 900,
    }),
    device: withDoc(byDefault(Type.Enum(['desktop', 'mobile', 'tablet']), 'desktop'), {
      description: 'Preset of viewport, touch and user agent; explicit values take precedence.',
      example: 'mobile',
      more: '`mobile` is 375 × 812 and `tablet` 768 × 1024, both with mobile layout.',
    }),
    retina: withDoc(flag(false), {
      description: 'Captures at two device pixels per CSS pixel.',
      example: true,
    }),
  },
  output: {
    format: withDoc(byDefault(Type.Enum(['png', 'jpeg', 'webp', 'avif', 'tiff', 'pdf']), 'png'), {
      description: 'Format of the result.',
      example: 'png',
      plain: 'the ledger counts captures by it',
    }),
    quality: withDoc(byDefault(integer(1, 100), 80), {
      description: 'Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning.',
      example: 90,
    }),
    resize_width: withDoc(integer(16, 3840), {
      description: 'Shrinks the image to this width, keeping the aspect ratio.',
      example: 640,
      more: neverEnlarged,
      appliesTo: 'image',
    }),
    resize_height: withDoc(integer(16, 2160), {
      description: 'Shrinks the image to this height, keeping the aspect ratio.',
      example: 480,
      more: neverEnlarged,
      appliesTo: 'image',
    }),
    omit_background: withDoc(flag(false), {
      description: 'Makes the background transparent; only for PNG and WebP.',
      example: true,
    }),
  },
  pdf: {
    pdf_landscape: withDoc(flag(false), {
      description: 'Uses landscape orientation for the pages of a PDF.',
      example: true,
      appliesTo: 'pdf',
    }),
    pdf_page_format: withDoc(byDefault(Type.Enum(['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid']), 'A4'), {
      description: 'Page size of a PDF.',
      example: 'Letter',
      appliesTo: 'pdf',
    }),
    pdf_margin_top: margin('Top'),
    pdf_margin_right: margin('Right'),
    pdf_margin_bottom: margin('Bottom'),
    pdf_margin_left: margin('Left'),
  },
  loading: {
    delay: withDoc(byDefault(integer(0, 10), 0), {
      description: 'Seconds to wait after the page has loaded, before the capture.',
      example: 2,
    }),
    timeout: withDoc(byDefault(integer(5, 60), 30), {
      description: 'Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`.',
      example: 20,
    }),
    wait_until: withDoc(byDefault(Type.Enum(['load', 'network_idle']), 'load'), {
      description:
        'When the page counts as loaded: `load`, at its load event; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`.',
      example: 'network_idle',
    }),
    wait_for_selector: withDoc(selector(), {
      description: 'CSS selector that must match before the capture.',
      example: '#main',
    }),
    full_page: withDoc(flag(false), {
      description: 'Captures the whole scrollable page instead of the viewport.',
      example: true,
      more: 'At most 20,000 px high. If the page scrolls inside an element instead, that element is captured in full.',
    }),
    full_page_mode: withDoc(byDefault(Type.Enum(['tall', 'sections']), 'tall'), {
      description:
        'How a full page is captured: `tall`, in a viewport as high as the page, so that what appears on scrolling is there; `sections`, one viewport after the other as a visitor scrolls, joined to one image.',
      example: 'sections',
      more: 'With `tall`, heights that follow the viewport stay as they were. `sections` is for pages that `tall` changes; bars that are fixed are shown once. PDFs are always `tall`.',
      appliesTo: 'image',
    }),
    full_page_width: withDoc(byDefault(Type.Enum(['content', 'viewport']), 'content'), {
      description:
        'Width of a full page: that of its content, if wider than the viewport, or always that of the viewport.',
      example: 'viewport',
      more: 'With `sections` it is always that of the viewport.',
    }),
    full_page_max_height: withDoc(integer(200, 20_000), {
      description: 'Maximum height of a full page in CSS pixels; the rest is cut off, with the warning `truncated`.',
      example: 5000,
    }),
  },
  interaction: {
    selector: withDoc(selector(), {
      description: 'CSS selector of the element to capture.',
      example: 'article',
    }),
    click_selector: withDoc(selector(), {
      description: 'CSS selector of an element to click before the capture.',
      example: '#accept',
    }),
    scroll_to: withDoc(selector(), {
      description: 'CSS selector of an element to scroll into view before the capture.',
      example: 'footer',
    }),
    hide_selectors: withDoc(Type.Array(selector(), { maxItems: 20 }), {
      description: 'CSS selectors of elements to hide.',
      example: ['.banner', '#chat'],
    }),
  },
  injection: {
    css: withDoc(code(), { description: 'CSS to add to the page.', example: 'body { margin: 0 }' }),
    js: withDoc(code(), { description: 'JavaScript to run on the page.', example: 'window.scrollTo(0, 0)' }),
    headers: withDoc(Type.Record(Type.String(), line(4096, 0), { maxProperties: 20 }), {
      description: 'HTTP headers that the browser sends to the host of the target. Values are never returned.',
      example: { 'X-Token': 'abc' },
      more: 'The headers are not sent to other hosts, even after a redirect; credentials (`Authorization`, `Cookie`, keys and tokens) not to other ports of the host either, nor from https to http.',
      appliesTo: 'url',
    }),
    cookies: withDoc(Type.Array(cookie, { maxItems: 20 }), {
      description: 'Cookies that are set before the page loads. Values are never returned.',
      example: [{ name: 'session', value: 'abc', domain: 'example.com' }],
    }),
  },
  blocking: {
    block_cookies: withDoc(flag(true), {
      description:
        'Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain.',
      example: false,
    }),
    block_ads: withDoc(flag(false), {
      description: 'Blocks requests to hosts of ads and trackers, and hides ad slots.',
      example: true,
    }),
    block_chats: withDoc(flag(false), {
      description: 'Blocks requests to hosts of chat widgets, and hides the widgets.',
      example: true,
    }),
  },
  emulation: {
    dark_mode: withDoc(flag(false), {
      description: 'Emulates a preference for the dark colour scheme.',
      example: true,
    }),
    reduced_motion: withDoc(flag(false), { description: 'Emulates a preference for reduced motion.', example: true }),
    animations: withDoc(byDefault(Type.Enum(['finish', 'allow']), 'finish'), {
      description:
        '`finish` shows animations and transitions at their end, endless ones at their start, so that the same page gives the same picture; `allow` lets them run.',
      example: 'allow',
      more: 'With `finish`, drawings on a canvas are awaited for up to 1.5 seconds.',
    }),
    user_agent: withDoc(line(500), {
      description: 'User agent of the browser.',
      example: 'Mozilla/5.0 (compatible; Example/1.0)',
      more: 'Defaults to that of the device; on desktop, to that of Chrome.',
    }),
    stealth: withDoc(flag(false), {
      description:
        'Captures with full Chromium, which appears to pages as an ordinary desktop browser. Returns 422 if the installation has no full Chromium.',
      example: true,
    }),
    timezone: withDoc(line(100), {
      description: 'IANA name of the time zone of the browser.',
      example: 'Europe/Paris',
      more: 'Defaults to UTC.',
    }),
    geolocation: withDoc(
      Type.Object(
        {
          latitude: Type.Number({ minimum: -90, maximum: 90 }),
          longitude: Type.Number({ minimum: -180, maximum: 180 }),
          accuracy: Type.Optional(Type.Number({ minimum: 0, maximum: 100_000 })),
        },
        { additionalProperties: false },
      ),
      {
        description:
          'Location that the browser reports to the page. It does not change the IP address of the requests.',
        example: { latitude: 48.8566, longitude: 2.3522 },
        more: 'Without it, location requests of the page are denied.',
      },
    ),
    proxy: withDoc(line(2048), {
      description: 'URL of your own proxy: http or socks5, with a port. The password is never returned.',
      example: 'http://user:secret@proxy.example.com:3128',
      more: '`user:password@` is optional. All requests of the page go through the proxy.',
    }),
  },
  advanced: {
    extract_metadata: withDoc(flag(false), {
      description:
        'Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags.',
      example: true,
    }),
    cache_ttl: withDoc(byDefault(integer(0, 86_400), 0), {
      description:
        'Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free.',
      example: 3600,
    }),
    webhook_url: withDoc(line(2048), {
      description: 'Public https URL that is notified on completion. The request then returns immediately.',
      example: 'https://hooks.example.com/screenshots',
      plain: 'deliveries wait in queues by receiver',
    }),
    response_type: withDoc(Type.Enum(['json', 'image']), {
      description: '`image` returns the image, `json` the record.',
      example: 'json',
      more: 'Defaults to `image` on capture and to `json` on create; a batch supports only `json`.',
    }),
  },
}
