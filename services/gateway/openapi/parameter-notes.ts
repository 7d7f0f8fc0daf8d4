import type { ParameterName } from '#shared/capture/options.ts'

/** What a capture parameter does, in a sentence, with an example. */
export type ParameterNote = { readonly note: string; readonly example: unknown }

const say = (note: string, example: unknown): ParameterNote => ({ note, example })

const margin = (side: string) =>
  say(`Margin of a PDF's pages, ${side}: a number with a unit, at most half the page.`, '20mm')

/** Every capture parameter explained to its callers. Bounds and defaults stand in the schema that validates. */
export const parameterNotes: Readonly<Record<ParameterName, ParameterNote>> = {
  url: say('Page to capture: an http or https address that is public.', 'https://example.com/'),
  html: say(
    'Raw HTML to capture. It is rendered at an origin of its own and may load public sub-resources.',
    '<h1>Hello</h1>',
  ),
  markdown: say('Markdown to capture: CommonMark and GFM.', '# Hello'),
  width: say('Width of the viewport in CSS pixels.', 1440),
  height: say('Height of the viewport in CSS pixels.', 900),
  device: say('Preset of viewport, touch and user agent; explicit values win.', 'mobile'),
  retina: say('Captures at two device pixels for each CSS pixel.', true),
  format: say('Format of the result.', 'png'),
  quality: say('Quality of JPEG, WebP and AVIF; with other formats it is ignored, with a warning.', 90),
  resize_width: say('Shrinks the image to this width; the aspect ratio stays.', 640),
  resize_height: say('Shrinks the image to this height; the aspect ratio stays.', 480),
  omit_background: say('Transparent background, with PNG and WebP.', true),
  pdf_landscape: say("Turns a PDF's pages.", true),
  pdf_page_format: say("Size of a PDF's pages.", 'Letter'),
  pdf_margin_top: margin('above'),
  pdf_margin_right: margin('on the right'),
  pdf_margin_bottom: margin('below'),
  pdf_margin_left: margin('on the left'),
  delay: say('Seconds to wait before the capture, once the page has loaded.', 2),
  timeout: say('Seconds in which the page must load; otherwise the capture fails with `TIMEOUT`.', 20),
  wait_until: say(
    'When the page counts as loaded: `load`, its load event; `network_idle`, once it has also asked for nothing for half a second. A page that never rests is captured when its `timeout` is over, with the warning `network_busy`.',
    'network_idle',
  ),
  wait_for_selector: say('CSS selector that must match before the capture.', '#main'),
  full_page: say('Captures the whole scrollable page instead of the viewport.', true),
  selector: say('CSS selector of the one element to capture.', 'article'),
  click_selector: say('CSS selector of an element that is clicked before the capture.', '#accept'),
  scroll_to: say('CSS selector of an element that is scrolled into view before the capture.', 'footer'),
  hide_selectors: say('CSS selectors of elements that are hidden.', ['.banner', '#chat']),
  css: say('Styles that are added to the page.', 'body { margin: 0 }'),
  js: say('Script that runs on the page.', 'window.scrollTo(0, 0)'),
  headers: say("Headers that the browser sends to the target's host. Values are never shown again.", {
    'X-Token': 'abc',
  }),
  cookies: say('Cookies that the browser has from the start. Values are never shown again.', [
    { name: 'session', value: 'abc', domain: 'example.com' },
  ]),
  block_cookies: say(
    'Removes cookie-consent banners: opts out where the platform is known, hides what is left.',
    false,
  ),
  block_ads: say('Loads nothing from hosts of ads and trackers, and hides the slots of ads.', true),
  block_chats: say('Loads nothing from hosts of chat widgets, and hides the widgets.', true),
  dark_mode: say('Prefers the dark colour scheme.', true),
  reduced_motion: say('Prefers reduced motion.', true),
  user_agent: say('User agent of the browser.', 'Mozilla/5.0 (compatible; Example/1.0)'),
  stealth: say(
    'Captures with full Chromium, in which pages find an ordinary desktop browser. Refused with 422 by an installation that has none.',
    true,
  ),
  timezone: say('IANA name of the time zone that the page sees.', 'Europe/Paris'),
  geolocation: say("Place that the page reads from the browser. It does not change the request's address.", {
    latitude: 48.8566,
    longitude: 2.3522,
  }),
  proxy: say(
    "The caller's own proxy, http or socks5 with its port. Its password is never shown again.",
    'http://user:secret@proxy.example.com:3128',
  ),
  extract_metadata: say(
    'Adds what the page says of itself to the record: title, description, canonical address, language, favicon and social tags.',
    true,
  ),
  cache_ttl: say(
    'Seconds for which an earlier result of the same request is good enough; 0 captures anew. A hit is free.',
    3600,
  ),
  webhook_url: say(
    'Public https address that is notified on completion. The request then returns immediately.',
    'https://hooks.example.com/screenshots',
  ),
  response_type: say('`image` answers with the image, `json` with the record.', 'json'),
}
