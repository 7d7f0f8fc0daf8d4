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

/** Documentation of a parameter; `more` appears only in docs/parameters.md. */
type Doc = { readonly description: string; readonly example: unknown; readonly more?: string }

/** Adds documentation; the schema's own description is for error messages. */
const withDoc = <Schema extends TSchema>(schema: Schema, doc: Doc) => Object.assign(schema, { doc })

const margin = (side: string) =>
  withDoc(length(), {
    description: `Margin of a PDF's pages, ${side}: a number with a unit, at most half the page.`,
    example: '20mm',
    more: 'The unit is px, in, cm, mm, pt, pc, Q, em or rem.',
  })

const neverEnlarged = 'With both the image fits inside; it is never enlarged.'

/** Every parameter by the groups of the contract, with bounds, default and description. Sources have no default. */
export const parameterGroups = {
  source: {
    url: withDoc(line(2048), {
      description: 'Page to capture: an http or https address that is public.',
      example: 'https://example.com/',
    }),
    html: withDoc(source(), {
      description: 'Raw HTML to capture. It is rendered at an origin of its own and may load public sub-resources.',
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
      description: 'Preset of viewport, touch and user agent; explicit values win.',
      example: 'mobile',
      more: '`mobile` is 375 × 812, `tablet` 768 × 1024, both with mobile layout.',
    }),
    retina: withDoc(flag(false), {
      description: 'Captures at two device pixels for each CSS pixel.',
      example: true,
    }),
  },
  output: {
    format: withDoc(byDefault(Type.Enum(['png', 'jpeg', 'webp', 'avif', 'tiff', 'pdf']), 'png'), {
      description: 'Format of the result.',
      example: 'png',
    }),
    quality: withDoc(byDefault(integer(1, 100), 80), {
      description: 'Quality of JPEG, WebP and AVIF; with other formats it is ignored, with a warning.',
      example: 90,
    }),
    resize_width: withDoc(integer(16, 3840), {
      description: 'Shrinks the image to this width; the aspect ratio stays.',
      example: 640,
      more: neverEnlarged,
    }),
    resize_height: withDoc(integer(16, 2160), {
      description: 'Shrinks the image to this height; the aspect ratio stays.',
      example: 480,
      more: neverEnlarged,
    }),
    omit_background: withDoc(flag(false), {
      description: 'Transparent background, with PNG and WebP.',
      example: true,
    }),
  },
  pdf: {
    pdf_landscape: withDoc(flag(false), { description: "Turns a PDF's pages.", example: true }),
    pdf_page_format: withDoc(byDefault(Type.Enum(['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid']), 'A4'), {
      description: "Size of a PDF's pages.",
      example: 'Letter',
    }),
    pdf_margin_top: margin('above'),
    pdf_margin_right: margin('on the right'),
    pdf_margin_bottom: margin('below'),
    pdf_margin_left: margin('on the left'),
  },
  loading: {
    delay: withDoc(byDefault(integer(0, 10), 0), {
      description: 'Seconds to wait before the capture, once the page has loaded.',
      example: 2,
    }),
    timeout: withDoc(byDefault(integer(5, 60), 30), {
      description: 'Seconds in which the page must load; otherwise the capture fails with `TIMEOUT`.',
      example: 20,
    }),
    wait_until: withDoc(byDefault(Type.Enum(['load', 'network_idle']), 'load'), {
      description:
        'When the page counts as loaded: `load`, its load event; `network_idle`, once it has also asked for nothing for half a second. A page that never rests is captured when its `timeout` is over, with the warning `network_busy`.',
      example: 'network_idle',
    }),
    wait_for_selector: withDoc(selector(), {
      description: 'CSS selector that must match before the capture.',
      example: '#main',
    }),
    full_page: withDoc(flag(false), {
      description: 'Captures the whole scrollable page instead of the viewport.',
      example: true,
      more: 'Up to 20,000 px high; of an app that scrolls inside of itself, all of that part.',
    }),
  },
  interaction: {
    selector: withDoc(selector(), {
      description: 'CSS selector of the one element to capture.',
      example: 'article',
    }),
    click_selector: withDoc(selector(), {
      description: 'CSS selector of an element that is clicked before the capture.',
      example: '#accept',
    }),
    scroll_to: withDoc(selector(), {
      description: 'CSS selector of an element that is scrolled into view before the capture.',
      example: 'footer',
    }),
    hide_selectors: withDoc(Type.Array(selector(), { maxItems: 20 }), {
      description: 'CSS selectors of elements that are hidden.',
      example: ['.banner', '#chat'],
    }),
  },
  injection: {
    css: withDoc(code(), { description: 'Styles that are added to the page.', example: 'body { margin: 0 }' }),
    js: withDoc(code(), { description: 'Script that runs on the page.', example: 'window.scrollTo(0, 0)' }),
    headers: withDoc(Type.Record(Type.String(), line(4096, 0), { maxProperties: 20 }), {
      description: "Headers that the browser sends to the target's host. Values are never shown again.",
      example: { 'X-Token': 'abc' },
      more: 'No other host gets them, not even after a redirect.',
    }),
    cookies: withDoc(Type.Array(cookie, { maxItems: 20 }), {
      description: 'Cookies that the browser has from the start. Values are never shown again.',
      example: [{ name: 'session', value: 'abc', domain: 'example.com' }],
    }),
  },
  blocking: {
    block_cookies: withDoc(flag(true), {
      description: 'Removes cookie-consent banners: opts out where the platform is known, hides what is left.',
      example: false,
    }),
    block_ads: withDoc(flag(false), {
      description: 'Loads nothing from hosts of ads and trackers, and hides the slots of ads.',
      example: true,
    }),
    block_chats: withDoc(flag(false), {
      description: 'Loads nothing from hosts of chat widgets, and hides the widgets.',
      example: true,
    }),
  },
  emulation: {
    dark_mode: withDoc(flag(false), { description: 'Prefers the dark colour scheme.', example: true }),
    reduced_motion: withDoc(flag(false), { description: 'Prefers reduced motion.', example: true }),
    user_agent: withDoc(line(500), {
      description: 'User agent of the browser.',
      example: 'Mozilla/5.0 (compatible; Example/1.0)',
      more: "Without it the device's, on a desktop Chrome's.",
    }),
    stealth: withDoc(flag(false), {
      description:
        'Captures with full Chromium, in which pages find an ordinary desktop browser. Refused with 422 by an installation that has none.',
      example: true,
    }),
    timezone: withDoc(line(100), {
      description: 'IANA name of the time zone that the page sees.',
      example: 'Europe/Paris',
      more: 'Without it UTC.',
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
        description: "Place that the page reads from the browser. It does not change the request's address.",
        example: { latitude: 48.8566, longitude: 2.3522 },
        more: 'Without it a page that asks for its place is denied.',
      },
    ),
    proxy: withDoc(line(2048), {
      description: "The caller's own proxy, http or socks5 with its port. Its password is never shown again.",
      example: 'http://user:secret@proxy.example.com:3128',
      more: 'With or without `user:password@`. Everything is loaded through it.',
    }),
  },
  advanced: {
    extract_metadata: withDoc(flag(false), {
      description:
        'Adds what the page says of itself to the record: title, description, canonical address, language, favicon and social tags.',
      example: true,
    }),
    cache_ttl: withDoc(byDefault(integer(0, 86_400), 0), {
      description:
        'Seconds for which an earlier result of the same request is good enough; 0 captures anew. A hit is free.',
      example: 3600,
    }),
    webhook_url: withDoc(line(2048), {
      description: 'Public https address that is notified on completion. The request then returns immediately.',
      example: 'https://hooks.example.com/screenshots',
    }),
    response_type: withDoc(Type.Enum(['json', 'image']), {
      description: '`image` answers with the image, `json` with the record.',
      example: 'json',
      more: 'Without it `image` on capture, `json` on create; a batch knows `json` alone.',
    }),
  },
}
