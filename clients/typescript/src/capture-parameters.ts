/**
 * Parameters of a capture. Exactly one of `url`, `html` and `markdown` is required. Bounds and defaults: docs/parameters.md of the
 * service. Generated from the service's code by `make docs`.
 */
export interface CaptureParameters {
  /** Page to capture: an http or https address that is public. */
  url?: string
  /** Raw HTML to capture. It is rendered at an origin of its own and may load public sub-resources. */
  html?: string
  /** Markdown to capture: CommonMark and GFM. */
  markdown?: string
  /** Width of the viewport in CSS pixels. */
  width?: number
  /** Height of the viewport in CSS pixels. */
  height?: number
  /** Preset of viewport, touch and user agent; explicit values win. */
  device?: 'desktop' | 'mobile' | 'tablet'
  /** Captures at two device pixels for each CSS pixel. */
  retina?: boolean
  /** Format of the result. */
  format?: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  /** Quality of JPEG, WebP and AVIF; with other formats it is ignored, with a warning. */
  quality?: number
  /** Shrinks the image to this width; the aspect ratio stays. */
  resize_width?: number
  /** Shrinks the image to this height; the aspect ratio stays. */
  resize_height?: number
  /** Transparent background, with PNG and WebP. */
  omit_background?: boolean
  /** Turns a PDF's pages. */
  pdf_landscape?: boolean
  /** Size of a PDF's pages. */
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  /** Margin of a PDF's pages, above: a number with a unit, at most half the page. */
  pdf_margin_top?: string
  /** Margin of a PDF's pages, on the right: a number with a unit, at most half the page. */
  pdf_margin_right?: string
  /** Margin of a PDF's pages, below: a number with a unit, at most half the page. */
  pdf_margin_bottom?: string
  /** Margin of a PDF's pages, on the left: a number with a unit, at most half the page. */
  pdf_margin_left?: string
  /** Seconds to wait before the capture, once the page has loaded. */
  delay?: number
  /** Seconds in which the page must load; otherwise the capture fails with `TIMEOUT`. */
  timeout?: number
  /** When the page counts as loaded: `load`, its load event; `network_idle`, once it has also asked for nothing for half a second. A page that never rests is captured when its `timeout` is over, with the warning `network_busy`. */
  wait_until?: 'load' | 'network_idle'
  /** CSS selector that must match before the capture. */
  wait_for_selector?: string
  /** Captures the whole scrollable page instead of the viewport. */
  full_page?: boolean
  /** CSS selector of the one element to capture. */
  selector?: string
  /** CSS selector of an element that is clicked before the capture. */
  click_selector?: string
  /** CSS selector of an element that is scrolled into view before the capture. */
  scroll_to?: string
  /** CSS selectors of elements that are hidden. */
  hide_selectors?: string[]
  /** Styles that are added to the page. */
  css?: string
  /** Script that runs on the page. */
  js?: string
  /** Headers that the browser sends to the target's host. Values are never shown again. */
  headers?: Record<string, string>
  /** Cookies that the browser has from the start. Values are never shown again. */
  cookies?: { name: string; value: string; domain?: string }[]
  /** Removes cookie-consent banners: opts out where the platform is known, hides what is left. */
  block_cookies?: boolean
  /** Loads nothing from hosts of ads and trackers, and hides the slots of ads. */
  block_ads?: boolean
  /** Loads nothing from hosts of chat widgets, and hides the widgets. */
  block_chats?: boolean
  /** Prefers the dark colour scheme. */
  dark_mode?: boolean
  /** Prefers reduced motion. */
  reduced_motion?: boolean
  /** User agent of the browser. */
  user_agent?: string
  /** Captures with full Chromium, in which pages find an ordinary desktop browser. Refused with 422 by an installation that has none. */
  stealth?: boolean
  /** IANA name of the time zone that the page sees. */
  timezone?: string
  /** Place that the page reads from the browser. It does not change the request's address. */
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  /** The caller's own proxy, http or socks5 with its port. Its password is never shown again. */
  proxy?: string
  /** Adds what the page says of itself to the record: title, description, canonical address, language, favicon and social tags. */
  extract_metadata?: boolean
  /** Seconds for which an earlier result of the same request is good enough; 0 captures anew. A hit is free. */
  cache_ttl?: number
  /** Public https address that is notified on completion. The request then returns immediately. */
  webhook_url?: string
  /** `image` answers with the image, `json` with the record. */
  response_type?: 'json' | 'image'
}
