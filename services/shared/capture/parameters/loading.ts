import { byDefault, enumSchema, flag, integer, line } from '#shared/schema/fields.ts'
import { code, selector, withDoc } from './kinds.ts'

/** When the page is captured, when that fails, and how much of it is captured. */
export const loading = {
  delay: withDoc(
    byDefault(
      integer(0, 10, undefined, { expected: 'a whole number from 0 to 10, in seconds (delay_ms: milliseconds)' }),
      0,
    ),
    {
      description: 'Seconds to wait after the page has loaded, before the capture.',
      example: 2,
    },
  ),
  delay_ms: withDoc(integer(0, 10_000), {
    description: 'Milliseconds to wait after the page has loaded; takes precedence over `delay`.',
    example: 350,
  }),
  timeout: withDoc(byDefault(integer(5, 60, undefined, { expected: 'a whole number from 5 to 60, in seconds' }), 30), {
    description: 'Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`.',
    example: 20,
    more: '`on_timeout` chooses a picture instead.',
  }),
  on_timeout: withDoc(byDefault(enumSchema(['fail', 'capture']), 'fail'), {
    description:
      'What happens to a page that has not loaded, or not met what the request waits for, when `timeout` elapses: `fail`, the capture fails; `capture`, what is there is captured, with the warning `load_unfinished`.',
    example: 'capture',
    more: 'Links and MCP default to `capture`, and so does the load with `network_idle`. A page that has not responded, or does not react, fails in any case.',
  }),
  wait_until: withDoc(byDefault(enumSchema(['load', 'network_idle', 'domcontentloaded']), 'load'), {
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
  fail_on_status: withDoc(byDefault(flag(), false), {
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
  fail_if_text: withDoc(line(1, 500), {
    description: 'Fails the capture, free of charge, if the page shows this text, ignoring upper and lower case.',
    example: 'Page not found',
  }),
  full_page: withDoc(byDefault(flag(), false), {
    description: 'Captures the whole scrollable page instead of the viewport.',
    example: true,
    more: 'At most 20,000 px high. If the page scrolls inside an element instead, that element is captured in full.',
  }),
  full_page_mode: withDoc(byDefault(enumSchema(['tall', 'sections']), 'tall'), {
    description:
      'How a full page is captured: `tall`, in a viewport as high as the page, so that what appears on scrolling is there; `sections`, one viewport after the other as a visitor scrolls, joined to one image.',
    example: 'sections',
    more: 'With `tall`, heights that follow the viewport stay as they were. `sections` is for pages that `tall` changes; bars that are fixed are shown once. PDFs are always `tall`.',
    appliesTo: 'image',
  }),
  full_page_width: withDoc(enumSchema(['content', 'viewport']), {
    description:
      'Width of a full page: that of its content, if wider than the viewport, or always that of the viewport.',
    example: 'viewport',
    more: 'Defaults to `viewport` for devices with touch and for viewports below 600 px, to `content` for others. With `sections` it is always that of the viewport.',
  }),
  full_page_max_height: withDoc(integer(200, 20_000), {
    description: 'Maximum height of a full page in CSS pixels; the rest is cut off, with the warning `truncated`.',
    example: 5000,
  }),
}
