// Generated from docs/openapi.json by `make docs`.

/** Parameters of a capture: exactly one source, and any other parameters. Unknown names are rejected. */
export interface CaptureParameters {
  /** URL of the page to capture. It must be http or https, and public. */
  url?: string
  /** Raw HTML to capture. It is rendered at an opaque origin and may load public sub-resources. */
  html?: string
  /** Markdown to capture: CommonMark and GFM. */
  markdown?: string
  /** Width of the viewport in CSS pixels. */
  width?: number
  /** Height of the viewport in CSS pixels. */
  height?: number
  /** Preset of viewport, touch and user agent; explicit values take precedence. */
  device?: 'desktop' | 'mobile' | 'tablet'
  /** Captures at two device pixels per CSS pixel. */
  retina?: boolean
  /** Format of the result. */
  format?: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  /** Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning. */
  quality?: number
  /** Shrinks the image to this width, keeping the aspect ratio. */
  resize_width?: number
  /** Shrinks the image to this height, keeping the aspect ratio. */
  resize_height?: number
  /** Makes the background transparent; only for PNG and WebP. */
  omit_background?: boolean
  /** Uses landscape orientation for the pages of a PDF. */
  pdf_landscape?: boolean
  /** Page size of a PDF. */
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  /** Top margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_top?: string
  /** Right margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_right?: string
  /** Bottom margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_bottom?: string
  /** Left margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_left?: string
  /** Seconds to wait after the page has loaded, before the capture. */
  delay?: number
  /** Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`. */
  timeout?: number
  /** When the page counts as loaded: `load`, at its load event; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`. */
  wait_until?: 'load' | 'network_idle'
  /** CSS selector that must match before the capture. */
  wait_for_selector?: string
  /** Captures the whole scrollable page instead of the viewport. */
  full_page?: boolean
  /** How a full page is captured: `tall`, in a viewport as high as the page, so that what appears on scrolling is there; `sections`, one viewport after the other as a visitor scrolls, joined to one image. */
  full_page_mode?: 'tall' | 'sections'
  /** Width of a full page: that of its content, if wider than the viewport, or always that of the viewport. */
  full_page_width?: 'content' | 'viewport'
  /** Maximum height of a full page in CSS pixels; the rest is cut off, with the warning `truncated`. */
  full_page_max_height?: number
  /** CSS selector of the element to capture. */
  selector?: string
  /** CSS selector of an element to click before the capture. */
  click_selector?: string
  /** CSS selector of an element to scroll into view before the capture. */
  scroll_to?: string
  /** CSS selectors of elements to hide. */
  hide_selectors?: string[]
  /** CSS to add to the page. */
  css?: string
  /** JavaScript to run on the page. */
  js?: string
  /** HTTP headers that the browser sends to the host of the target. Values are never returned. */
  headers?: Record<string, string>
  /** Cookies that are set before the page loads. Values are never returned. */
  cookies?: { name: string; value: string; domain?: string }[]
  /** Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain. */
  block_cookies?: boolean
  /** Blocks requests to hosts of ads and trackers, and hides ad slots. */
  block_ads?: boolean
  /** Blocks requests to hosts of chat widgets, and hides the widgets. */
  block_chats?: boolean
  /** Emulates a preference for the dark colour scheme. */
  dark_mode?: boolean
  /** Emulates a preference for reduced motion. */
  reduced_motion?: boolean
  /** `finish` shows animations and transitions at their end, endless ones at their start, so that the same page gives the same picture; `allow` lets them run. */
  animations?: 'finish' | 'allow'
  /** User agent of the browser. */
  user_agent?: string
  /** Captures with full Chromium, which appears to pages as an ordinary desktop browser. Returns 422 if the installation has no full Chromium. */
  stealth?: boolean
  /** IANA name of the time zone of the browser. */
  timezone?: string
  /** Location that the browser reports to the page. It does not change the IP address of the requests. */
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  /** URL of your own proxy: http or socks5, with a port. The password is never returned. */
  proxy?: string
  /** Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags. */
  extract_metadata?: boolean
  /** Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free. */
  cache_ttl?: number
  /** Public https URL that is notified on completion. The request then returns immediately. */
  webhook_url?: string
  /** `image` returns the image, `json` the record. */
  response_type?: 'json' | 'image'
}

/** URLs, and capture parameters that apply to each of them. */
export interface BatchParameters {
  /** URLs of the pages to capture. If one is invalid, the whole batch is rejected. */
  urls: string[]
  /** Width of the viewport in CSS pixels. */
  width?: number
  /** Height of the viewport in CSS pixels. */
  height?: number
  /** Preset of viewport, touch and user agent; explicit values take precedence. */
  device?: 'desktop' | 'mobile' | 'tablet'
  /** Captures at two device pixels per CSS pixel. */
  retina?: boolean
  /** Format of the result. */
  format?: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  /** Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning. */
  quality?: number
  /** Shrinks the image to this width, keeping the aspect ratio. */
  resize_width?: number
  /** Shrinks the image to this height, keeping the aspect ratio. */
  resize_height?: number
  /** Makes the background transparent; only for PNG and WebP. */
  omit_background?: boolean
  /** Uses landscape orientation for the pages of a PDF. */
  pdf_landscape?: boolean
  /** Page size of a PDF. */
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  /** Top margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_top?: string
  /** Right margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_right?: string
  /** Bottom margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_bottom?: string
  /** Left margin of the pages of a PDF: a number with a unit, at most half the page. */
  pdf_margin_left?: string
  /** Seconds to wait after the page has loaded, before the capture. */
  delay?: number
  /** Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`. */
  timeout?: number
  /** When the page counts as loaded: `load`, at its load event; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`. */
  wait_until?: 'load' | 'network_idle'
  /** CSS selector that must match before the capture. */
  wait_for_selector?: string
  /** Captures the whole scrollable page instead of the viewport. */
  full_page?: boolean
  /** How a full page is captured: `tall`, in a viewport as high as the page, so that what appears on scrolling is there; `sections`, one viewport after the other as a visitor scrolls, joined to one image. */
  full_page_mode?: 'tall' | 'sections'
  /** Width of a full page: that of its content, if wider than the viewport, or always that of the viewport. */
  full_page_width?: 'content' | 'viewport'
  /** Maximum height of a full page in CSS pixels; the rest is cut off, with the warning `truncated`. */
  full_page_max_height?: number
  /** CSS selector of the element to capture. */
  selector?: string
  /** CSS selector of an element to click before the capture. */
  click_selector?: string
  /** CSS selector of an element to scroll into view before the capture. */
  scroll_to?: string
  /** CSS selectors of elements to hide. */
  hide_selectors?: string[]
  /** CSS to add to the page. */
  css?: string
  /** JavaScript to run on the page. */
  js?: string
  /** HTTP headers that the browser sends to the host of the target. Values are never returned. */
  headers?: Record<string, string>
  /** Cookies that are set before the page loads. Values are never returned. */
  cookies?: { name: string; value: string; domain?: string }[]
  /** Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain. */
  block_cookies?: boolean
  /** Blocks requests to hosts of ads and trackers, and hides ad slots. */
  block_ads?: boolean
  /** Blocks requests to hosts of chat widgets, and hides the widgets. */
  block_chats?: boolean
  /** Emulates a preference for the dark colour scheme. */
  dark_mode?: boolean
  /** Emulates a preference for reduced motion. */
  reduced_motion?: boolean
  /** `finish` shows animations and transitions at their end, endless ones at their start, so that the same page gives the same picture; `allow` lets them run. */
  animations?: 'finish' | 'allow'
  /** User agent of the browser. */
  user_agent?: string
  /** Captures with full Chromium, which appears to pages as an ordinary desktop browser. Returns 422 if the installation has no full Chromium. */
  stealth?: boolean
  /** IANA name of the time zone of the browser. */
  timezone?: string
  /** Location that the browser reports to the page. It does not change the IP address of the requests. */
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  /** URL of your own proxy: http or socks5, with a port. The password is never returned. */
  proxy?: string
  /** Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags. */
  extract_metadata?: boolean
  /** Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free. */
  cache_ttl?: number
  /** Public https URL that is notified on completion. The request then returns immediately. */
  webhook_url?: string
  /** A batch always returns its record. */
  response_type?: 'json'
}

export interface NewWebhook {
  /** Public https URL of the receiver. An account has at most 20 webhooks. */
  url: string
  /** Events that are sent to the webhook. */
  events?: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** Free-text description. */
  description?: string
  /** Whether events are sent to the webhook. */
  active?: boolean
}

/** Fields to change. Omitted fields keep their values. */
export interface WebhookChange {
  /** Public https URL of the receiver. An account has at most 20 webhooks. */
  url?: string
  /** Events that are sent to the webhook. */
  events?: ('screenshot.completed' | 'screenshot.failed' | 'batch.completed' | 'quota.warning' | 'webhook.test')[]
  /** Free-text description. */
  description?: string
  /** Whether events are sent to the webhook. */
  active?: boolean
}

/** Effective size and format, and the parameters given in the request, with secrets masked as `***`. */
export interface ScreenshotOptions {
  width: number
  height: number
  format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  device?: 'desktop' | 'mobile' | 'tablet'
  retina?: boolean
  quality?: number
  resize_width?: number
  resize_height?: number
  omit_background?: boolean
  pdf_landscape?: boolean
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  pdf_margin_top?: string
  pdf_margin_right?: string
  pdf_margin_bottom?: string
  pdf_margin_left?: string
  delay?: number
  timeout?: number
  wait_until?: 'load' | 'network_idle'
  wait_for_selector?: string
  full_page?: boolean
  full_page_mode?: 'tall' | 'sections'
  full_page_width?: 'content' | 'viewport'
  full_page_max_height?: number
  selector?: string
  click_selector?: string
  scroll_to?: string
  hide_selectors?: string[]
  css?: string
  js?: string
  headers?: Record<string, unknown>
  cookies?: { name: string; value: string; domain?: string }[]
  block_cookies?: boolean
  block_ads?: boolean
  block_chats?: boolean
  dark_mode?: boolean
  reduced_motion?: boolean
  animations?: 'finish' | 'allow'
  user_agent?: string
  stealth?: boolean
  timezone?: string
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  proxy?: string
  extract_metadata?: boolean
  cache_ttl?: number
  webhook_url?: string
  response_type?: 'json' | 'image'
  /** Type of a source that is not a URL. Its text is never returned. */
  source?: 'html' | 'markdown'
  /** Size of the HTML or Markdown source as UTF-8, in bytes. */
  source_bytes?: number
  /** SHA-256 of the HTML or Markdown source, in hex. */
  source_sha256?: string
}

/** As `ScreenshotOptions`, with the main parameters always present. */
export interface CompletedScreenshotOptions {
  width: number
  height: number
  device: 'desktop' | 'mobile' | 'tablet'
  retina: boolean
  format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  quality: number
  delay: number
  timeout: number
  full_page: boolean
  block_cookies: boolean
  block_ads: boolean
  dark_mode: boolean
  resize_width?: number
  resize_height?: number
  omit_background?: boolean
  pdf_landscape?: boolean
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  pdf_margin_top?: string
  pdf_margin_right?: string
  pdf_margin_bottom?: string
  pdf_margin_left?: string
  wait_until?: 'load' | 'network_idle'
  wait_for_selector?: string
  full_page_mode?: 'tall' | 'sections'
  full_page_width?: 'content' | 'viewport'
  full_page_max_height?: number
  selector?: string
  click_selector?: string
  scroll_to?: string
  hide_selectors?: string[]
  css?: string
  js?: string
  headers?: Record<string, unknown>
  cookies?: { name: string; value: string; domain?: string }[]
  block_chats?: boolean
  reduced_motion?: boolean
  animations?: 'finish' | 'allow'
  user_agent?: string
  stealth?: boolean
  timezone?: string
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  proxy?: string
  extract_metadata?: boolean
  cache_ttl?: number
  webhook_url?: string
  response_type?: 'json' | 'image'
  /** Type of a source that is not a URL. Its text is never returned. */
  source?: 'html' | 'markdown'
  /** Size of the HTML or Markdown source as UTF-8, in bytes. */
  source_bytes?: number
  /** SHA-256 of the HTML or Markdown source, in hex. */
  source_sha256?: string
}
