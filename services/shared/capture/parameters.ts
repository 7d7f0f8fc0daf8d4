import { Type } from 'typebox'
import { deviceNames, deviceSizes } from './devices.ts'
import {
  byDefault,
  code,
  cookie,
  flag,
  integer,
  length,
  line,
  paper,
  selector,
  source,
  withDoc,
} from './parameter-kinds.ts'

const units = 'The unit is px, in, cm, mm, pt, pc, Q, em or rem.'
const margin = (side: string) =>
  withDoc(length(), {
    description: `${side} margin of the pages of a PDF: a number with a unit, at most half the page.`,
    example: '20mm',
    more: units,
    appliesTo: 'pdf',
  })
const pageSide = (side: string, example: string) =>
  withDoc(paper(), {
    description: `${side} of the pages of a PDF, instead of that of \`pdf_page_format\`.`,
    example,
    more: units,
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
    device: withDoc(byDefault(Type.Enum(deviceNames), 'desktop'), {
      description: 'Preset of viewport, touch and user agent; explicit values take precedence.',
      example: 'mobile',
      more: deviceSizes,
    }),
    orientation: withDoc(Type.Enum(['portrait', 'landscape']), {
      description: 'Orientation of the device: swaps the width and height of its preset where they differ from it.',
      example: 'landscape',
    }),
    retina: withDoc(flag(false), {
      description: 'Captures at two device pixels per CSS pixel.',
      example: true,
    }),
    scale: withDoc(Type.Number({ minimum: 1, maximum: 4 }), {
      description: 'Device pixels per CSS pixel, from 1 to 4; takes precedence over `retina`.',
      example: 1.5,
      more: 'The viewport has at most 33,177,600 device pixels: 3840 × 2160 at `2`.',
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
    resize_mode: withDoc(byDefault(Type.Enum(['fit', 'cover', 'contain']), 'fit'), {
      description:
        'How the image becomes `resize_width` by `resize_height`: `fit` keeps all of it inside, `cover` fills both and cuts off the rest, `contain` fills what is left with the background.',
      example: 'cover',
      more: '`cover` and `contain` need both sizes. The image is never enlarged: `cover` of a smaller one cuts it only, `contain` pads it.',
      appliesTo: 'image',
    }),
    resize_position: withDoc(byDefault(Type.Enum(['center', 'top', 'bottom', 'left', 'right']), 'center'), {
      description: 'Part of the image that `cover` keeps, or side at which `contain` places it.',
      example: 'top',
      appliesTo: 'image',
    }),
    clip: withDoc(
      Type.Object(
        { x: integer(0, 20_000), y: integer(0, 20_000), width: integer(1, 20_000), height: integer(1, 20_000) },
        { additionalProperties: false },
      ),
      {
        description: 'Rectangle of the viewport, or of the full page, to capture, in CSS pixels from its top left.',
        example: { x: 0, y: 100, width: 600, height: 400 },
        more: 'What lies outside of the page is cut off. A `selector` takes precedence.',
        appliesTo: 'image',
      },
    ),
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
    pdf_width: pageSide('Width', '148mm'),
    pdf_height: pageSide('Height', '105mm'),
    pdf_scale: withDoc(byDefault(Type.Number({ minimum: 0.1, maximum: 2 }), 1), {
      description: 'Factor by which the content of a PDF is scaled, from 0.1 to 2.',
      example: 0.8,
      appliesTo: 'pdf',
    }),
    pdf_background: withDoc(flag(true), {
      description: 'Prints backgrounds in a PDF.',
      example: false,
      appliesTo: 'pdf',
    }),
    pdf_page_ranges: withDoc(
      Type.String({
        maxLength: 100,
        pattern: '^[1-9]\\d{0,3}(-[1-9]\\d{0,3})?(,[1-9]\\d{0,3}(-[1-9]\\d{0,3})?)*$',
        description: 'page numbers and ranges such as 1-3,5',
      }),
      {
        description: 'Pages of a PDF to print; all by default. A full page or element has one page.',
        example: '1-3,5',
        appliesTo: 'pdf',
      },
    ),
    pdf_header: withDoc(code(), {
      description:
        'HTML at the top of each page of a PDF, within its margin; elements with the classes `pageNumber`, `totalPages`, `title`, `url` and `date` are filled in.',
      example: '<span style="font-size:8px" class="title"></span>',
      more: 'Text and styles only; all else is removed. Set a font size: the default is 0.',
      appliesTo: 'pdf',
    }),
    pdf_footer: withDoc(code(), {
      description: 'HTML at the bottom of each page of a PDF, as `pdf_header`.',
      example:
        '<span style="font-size:8px"><span class="pageNumber"></span> of <span class="totalPages"></span></span>',
      appliesTo: 'pdf',
    }),
    pdf_outline: withDoc(flag(false), {
      description: 'Adds an outline of the headings to a PDF.',
      example: true,
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
    wait_until: withDoc(byDefault(Type.Enum(['load', 'network_idle', 'domcontentloaded']), 'load'), {
      description:
        'When the page counts as loaded: `load`, at its load event; `domcontentloaded`, once its document is parsed, without waiting for images, frames and style sheets; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`.',
      example: 'network_idle',
    }),
    wait_for_selector: withDoc(selector(), {
      description: 'CSS selector that must match before the capture.',
      example: '#main',
    }),
    wait_for_selector_hidden: withDoc(selector(), {
      description: 'CSS selector that must match nothing visible before the capture, such as a loading indicator.',
      example: '.spinner',
    }),
    wait_for_function: withDoc(code(), {
      description:
        'JavaScript expression, or function, that must be true before the capture; evaluated in the page until `timeout` elapses.',
      example: 'window.chartsReady === true',
    }),
    fail_on_status: withDoc(flag(false), {
      description: 'Fails the capture, free of charge, if the page responds with a status of 400 or above.',
      example: true,
      appliesTo: 'url',
    }),
    fail_if_selector_missing: withDoc(selector(), {
      description: 'Fails the capture, free of charge, if this CSS selector matches nothing.',
      example: 'main article',
    }),
    fail_if_selector_present: withDoc(selector(), {
      description: 'Fails the capture, free of charge, if this CSS selector matches something.',
      example: '.error-page',
    }),
    fail_if_text: withDoc(line(500), {
      description: 'Fails the capture, free of charge, if the page shows this text, in any case.',
      example: 'Page not found',
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
    block_requests: withDoc(Type.Array(line(500), { maxItems: 20 }), {
      description: 'Blocks requests of the page whose URL matches one of these patterns, in any case.',
      example: ['*/analytics.js', 'https://cdn.example.com/*.mp4'],
      more: '`*` stands for any characters; a pattern without `*` may match anywhere in the URL. The page itself is never blocked, nor are WebSockets.',
    }),
    block_resources: withDoc(
      Type.Array(Type.Enum(['image', 'media', 'font', 'stylesheet', 'script']), { maxItems: 5 }),
      {
        description: 'Blocks requests of the page for these kinds of resources.',
        example: ['media', 'font'],
      },
    ),
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
    media_type: withDoc(Type.Enum(['screen', 'print']), {
      description: 'Media type of the styles of the page.',
      example: 'print',
      more: 'Defaults to `screen` for images, and for PDFs of a full page or an element; to `print` for other PDFs.',
    }),
    locale: withDoc(line(35), {
      description:
        'Language and region of the browser, as a BCP 47 tag; pages see it in `Accept-Language` and in scripts.',
      example: 'fr-CA',
      more: 'Defaults to en-US.',
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
