// Generated from docs/openapi.json by `make docs`.

export type * from './account-requests.ts'

/** Parameters of a capture: exactly one source, and any other parameters. Unknown names are rejected. */
export interface CaptureParameters {
  /** URL of the page to capture. It must be http or https, and public. */
  url?: string
  /** Raw HTML to capture. It is rendered at an opaque origin and may load public sub-resources. */
  html?: string
  /** Markdown to capture: CommonMark and GFM, with footnotes, alerts, emoji names, math and Mermaid diagrams. */
  markdown?: string
  /** Width of the viewport in CSS pixels. */
  width?: number
  /** Height of the viewport in CSS pixels. */
  height?: number
  /** Preset of viewport, touch and user agent; explicit values take precedence. */
  device?: 'desktop' | 'mobile' | 'tablet' | 'iphone_se' | 'iphone_16' | 'iphone_16_pro_max' | 'pixel_9' | 'galaxy_s24' | 'ipad_mini' | 'ipad_pro_13' | 'galaxy_tab_s9' | 'macbook_air_13' | 'laptop' | 'desktop_full_hd'
  /** Orientation of the device: swaps the width and height of its preset where they differ from it. */
  orientation?: 'portrait' | 'landscape'
  /** Captures at two device pixels per CSS pixel. */
  retina?: boolean
  /** Device pixels per CSS pixel, from 1 to 4; takes precedence over `retina`. */
  scale?: number
  /** Format of the result. */
  format?: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  /** Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning. */
  quality?: number
  /** Shrinks the image to this width, keeping the aspect ratio. */
  resize_width?: number
  /** Shrinks the image to this height, keeping the aspect ratio. */
  resize_height?: number
  /** How the image becomes `resize_width` by `resize_height`: `fit` keeps all of it inside, `cover` fills both and cuts off the rest, `contain` fills what is left with the background. */
  resize_mode?: 'fit' | 'cover' | 'contain'
  /** Part of the image that `cover` keeps, or side at which `contain` places it. */
  resize_position?: 'center' | 'top' | 'bottom' | 'left' | 'right'
  /** Up to 5 further images of the same load, each with `format` and, as for the image itself, `quality`, `resize_width`, `resize_height` and `resize_mode`. */
  renditions?: { format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff'; quality?: number; resize_width?: number; resize_height?: number; resize_mode?: 'fit' | 'cover' | 'contain' }[]
  /** Rectangle of the viewport, or of the full page, to capture, in CSS pixels from its top left. */
  clip?: { x: number; y: number; width: number; height: number }
  /** Makes the background transparent; only for PNG and WebP. */
  omit_background?: boolean
  /** Name under which browsers save the result; the extension of its format is added if it is missing. */
  filename?: string
  /** Uses landscape orientation for the pages of a PDF. */
  pdf_landscape?: boolean
  /** Page size of a PDF. */
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  /** Width of the pages of a PDF, instead of that of `pdf_page_format`. */
  pdf_width?: string
  /** Height of the pages of a PDF, instead of that of `pdf_page_format`. */
  pdf_height?: string
  /** Gives the pages of a PDF the size that the `@page` rules of the page set, as slides and labels do. */
  pdf_css_page_size?: boolean
  /** What happens to content that is wider than the pages of a PDF: `width` shrinks the page until it fits, `none` cuts it off. */
  pdf_fit?: 'width' | 'none'
  /** Prints a PDF on one page as wide as the paper and as high as the content. */
  pdf_single_page?: boolean
  /** Factor by which the content of a PDF is scaled, from 0.1 to 2. */
  pdf_scale?: number
  /** Prints backgrounds in a PDF. */
  pdf_background?: boolean
  /** Pages of a PDF to print; all by default. A full page or element has one page. */
  pdf_page_ranges?: string
  /** HTML at the top of each page of a PDF, within its margin; elements with the classes `pageNumber`, `totalPages`, `title`, `url` and `date` are filled in. */
  pdf_header?: string
  /** HTML at the bottom of each page of a PDF, as `pdf_header`. */
  pdf_footer?: string
  /** Adds an outline of the headings to a PDF. */
  pdf_outline?: boolean
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
  /** Milliseconds to wait after the page has loaded; takes precedence over `delay`. */
  delay_ms?: number
  /** Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`. */
  timeout?: number
  /** What happens to a page that has not loaded, or not met what the request waits for, when `timeout` elapses: `fail`, the capture fails; `capture`, what is there is captured, with the warning `load_unfinished`. */
  on_timeout?: 'fail' | 'capture'
  /** When the page counts as loaded: `load`, at its load event; `domcontentloaded`, once its document is parsed, without waiting for images, frames and style sheets; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`. */
  wait_until?: 'load' | 'network_idle' | 'domcontentloaded'
  /** CSS selector that must match before the capture. */
  wait_for_selector?: string
  /** CSS selector that must match nothing visible before the capture, such as a loading indicator. */
  wait_for_selector_hidden?: string
  /** JavaScript expression, or function, that must be true before the capture; evaluated in the page until `timeout` elapses. */
  wait_for_function?: string
  /** Fails the capture, free of charge, if the page responds with a status of 400 or above. */
  fail_on_status?: boolean
  /** Fails the capture, free of charge, if this CSS selector matches nothing. */
  fail_if_selector_missing?: string
  /** Fails the capture, free of charge, if this CSS selector matches something. */
  fail_if_selector_present?: string
  /** Fails the capture, free of charge, if the page shows this text, ignoring upper and lower case. */
  fail_if_text?: string
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
  /** Steps on the page before the capture, in order: `click`, `hover`, `type` text, `press` a key, `select` an option by value or label, `scroll` to an element or position, `wait` for an element or time. */
  actions?: { type: 'click' | 'hover' | 'type' | 'press' | 'select' | 'scroll' | 'wait'; selector?: string; text?: string; key?: 'Enter' | 'Tab' | 'Escape' | 'Backspace' | 'Delete' | 'Space' | 'Home' | 'End' | 'PageUp' | 'PageDown' | 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'; value?: string; x?: number; y?: number; milliseconds?: number }[]
  /** CSS to add to the page. */
  css?: string
  /** JavaScript to run on the page. */
  js?: string
  /** HTTP headers that the browser sends to the origin of the target. Values are never returned. */
  headers?: Record<string, string>
  /** Origins besides that of the target to which the browser sends `headers`. */
  header_origins?: string[]
  /** Cookies that are set before the page loads. Values are never returned. */
  cookies?: { name: string; value: string; domain?: string }[]
  /** Items of the local storage of the target that are set before the page loads. Values are never returned. */
  local_storage?: Record<string, string>
  /** Items of the session storage of the target that are set before the page loads. Values are never returned. */
  session_storage?: Record<string, string>
  /** Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain. */
  block_cookies?: boolean
  /** Blocks requests to hosts of ads and trackers, and hides ad slots. */
  block_ads?: boolean
  /** Blocks requests to hosts of chat widgets, and hides the widgets. */
  block_chats?: boolean
  /** Blocks requests to hosts that measure or follow visitors, but not ads; `block_ads` includes it. */
  block_trackers?: boolean
  /** Hides overlays that ask visitors for something: newsletter sign-ups, app banners, notification prompts, age gates, and log-in or subscription walls. */
  block_popups?: boolean
  /** Blocks requests of the page whose URL matches one of these patterns, ignoring upper and lower case. */
  block_requests?: string[]
  /** Blocks requests of the page for these kinds of resources. */
  block_resources?: ('image' | 'media' | 'font' | 'stylesheet' | 'script')[]
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
  /** Media type of the styles of the page. */
  media_type?: 'screen' | 'print'
  /** Language and region of the browser, as a BCP 47 tag; pages see it in `Accept-Language` and in scripts. */
  locale?: string
  /** IANA name of the time zone of the browser. */
  timezone?: string
  /** Location that the browser reports to the page. It does not change the IP address of the requests. */
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  /** URL of your own proxy: http or socks5, with a port. The password is never returned. */
  proxy?: string
  /** Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags. */
  extract_metadata?: boolean
  /** Content of the page to store besides the image, from the same load: `html` as rendered, readable `text`, `markdown`, `links`, the `accessibility` tree, `mhtml`; the requests as `har` and the messages of the `console`, without secrets. */
  outputs?: ('html' | 'text' | 'markdown' | 'links' | 'accessibility' | 'mhtml' | 'har' | 'console')[]
  /** Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free. */
  cache_ttl?: number
  /** Public https URL that is notified on completion. The request then returns immediately. */
  webhook_url?: string
  /** Name of an upload destination of the account, to whose bucket the image is uploaded once it is captured. */
  upload_to?: string
  /** Key of the uploaded object, under the prefix of the destination, with the placeholders `{id}`, `{date}`, `{host}`, `{format}`. */
  upload_key?: string
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
  device?: 'desktop' | 'mobile' | 'tablet' | 'iphone_se' | 'iphone_16' | 'iphone_16_pro_max' | 'pixel_9' | 'galaxy_s24' | 'ipad_mini' | 'ipad_pro_13' | 'galaxy_tab_s9' | 'macbook_air_13' | 'laptop' | 'desktop_full_hd'
  /** Orientation of the device: swaps the width and height of its preset where they differ from it. */
  orientation?: 'portrait' | 'landscape'
  /** Captures at two device pixels per CSS pixel. */
  retina?: boolean
  /** Device pixels per CSS pixel, from 1 to 4; takes precedence over `retina`. */
  scale?: number
  /** Format of the result. */
  format?: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  /** Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning. */
  quality?: number
  /** Shrinks the image to this width, keeping the aspect ratio. */
  resize_width?: number
  /** Shrinks the image to this height, keeping the aspect ratio. */
  resize_height?: number
  /** How the image becomes `resize_width` by `resize_height`: `fit` keeps all of it inside, `cover` fills both and cuts off the rest, `contain` fills what is left with the background. */
  resize_mode?: 'fit' | 'cover' | 'contain'
  /** Part of the image that `cover` keeps, or side at which `contain` places it. */
  resize_position?: 'center' | 'top' | 'bottom' | 'left' | 'right'
  /** Up to 5 further images of the same load, each with `format` and, as for the image itself, `quality`, `resize_width`, `resize_height` and `resize_mode`. */
  renditions?: { format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff'; quality?: number; resize_width?: number; resize_height?: number; resize_mode?: 'fit' | 'cover' | 'contain' }[]
  /** Rectangle of the viewport, or of the full page, to capture, in CSS pixels from its top left. */
  clip?: { x: number; y: number; width: number; height: number }
  /** Makes the background transparent; only for PNG and WebP. */
  omit_background?: boolean
  /** Name under which browsers save the result; the extension of its format is added if it is missing. */
  filename?: string
  /** Uses landscape orientation for the pages of a PDF. */
  pdf_landscape?: boolean
  /** Page size of a PDF. */
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  /** Width of the pages of a PDF, instead of that of `pdf_page_format`. */
  pdf_width?: string
  /** Height of the pages of a PDF, instead of that of `pdf_page_format`. */
  pdf_height?: string
  /** Gives the pages of a PDF the size that the `@page` rules of the page set, as slides and labels do. */
  pdf_css_page_size?: boolean
  /** What happens to content that is wider than the pages of a PDF: `width` shrinks the page until it fits, `none` cuts it off. */
  pdf_fit?: 'width' | 'none'
  /** Prints a PDF on one page as wide as the paper and as high as the content. */
  pdf_single_page?: boolean
  /** Factor by which the content of a PDF is scaled, from 0.1 to 2. */
  pdf_scale?: number
  /** Prints backgrounds in a PDF. */
  pdf_background?: boolean
  /** Pages of a PDF to print; all by default. A full page or element has one page. */
  pdf_page_ranges?: string
  /** HTML at the top of each page of a PDF, within its margin; elements with the classes `pageNumber`, `totalPages`, `title`, `url` and `date` are filled in. */
  pdf_header?: string
  /** HTML at the bottom of each page of a PDF, as `pdf_header`. */
  pdf_footer?: string
  /** Adds an outline of the headings to a PDF. */
  pdf_outline?: boolean
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
  /** Milliseconds to wait after the page has loaded; takes precedence over `delay`. */
  delay_ms?: number
  /** Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`. */
  timeout?: number
  /** What happens to a page that has not loaded, or not met what the request waits for, when `timeout` elapses: `fail`, the capture fails; `capture`, what is there is captured, with the warning `load_unfinished`. */
  on_timeout?: 'fail' | 'capture'
  /** When the page counts as loaded: `load`, at its load event; `domcontentloaded`, once its document is parsed, without waiting for images, frames and style sheets; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`. */
  wait_until?: 'load' | 'network_idle' | 'domcontentloaded'
  /** CSS selector that must match before the capture. */
  wait_for_selector?: string
  /** CSS selector that must match nothing visible before the capture, such as a loading indicator. */
  wait_for_selector_hidden?: string
  /** JavaScript expression, or function, that must be true before the capture; evaluated in the page until `timeout` elapses. */
  wait_for_function?: string
  /** Fails the capture, free of charge, if the page responds with a status of 400 or above. */
  fail_on_status?: boolean
  /** Fails the capture, free of charge, if this CSS selector matches nothing. */
  fail_if_selector_missing?: string
  /** Fails the capture, free of charge, if this CSS selector matches something. */
  fail_if_selector_present?: string
  /** Fails the capture, free of charge, if the page shows this text, ignoring upper and lower case. */
  fail_if_text?: string
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
  /** Steps on the page before the capture, in order: `click`, `hover`, `type` text, `press` a key, `select` an option by value or label, `scroll` to an element or position, `wait` for an element or time. */
  actions?: { type: 'click' | 'hover' | 'type' | 'press' | 'select' | 'scroll' | 'wait'; selector?: string; text?: string; key?: 'Enter' | 'Tab' | 'Escape' | 'Backspace' | 'Delete' | 'Space' | 'Home' | 'End' | 'PageUp' | 'PageDown' | 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'; value?: string; x?: number; y?: number; milliseconds?: number }[]
  /** CSS to add to the page. */
  css?: string
  /** JavaScript to run on the page. */
  js?: string
  /** HTTP headers that the browser sends to the origin of the target. Values are never returned. */
  headers?: Record<string, string>
  /** Origins besides that of the target to which the browser sends `headers`. */
  header_origins?: string[]
  /** Cookies that are set before the page loads. Values are never returned. */
  cookies?: { name: string; value: string; domain?: string }[]
  /** Items of the local storage of the target that are set before the page loads. Values are never returned. */
  local_storage?: Record<string, string>
  /** Items of the session storage of the target that are set before the page loads. Values are never returned. */
  session_storage?: Record<string, string>
  /** Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain. */
  block_cookies?: boolean
  /** Blocks requests to hosts of ads and trackers, and hides ad slots. */
  block_ads?: boolean
  /** Blocks requests to hosts of chat widgets, and hides the widgets. */
  block_chats?: boolean
  /** Blocks requests to hosts that measure or follow visitors, but not ads; `block_ads` includes it. */
  block_trackers?: boolean
  /** Hides overlays that ask visitors for something: newsletter sign-ups, app banners, notification prompts, age gates, and log-in or subscription walls. */
  block_popups?: boolean
  /** Blocks requests of the page whose URL matches one of these patterns, ignoring upper and lower case. */
  block_requests?: string[]
  /** Blocks requests of the page for these kinds of resources. */
  block_resources?: ('image' | 'media' | 'font' | 'stylesheet' | 'script')[]
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
  /** Media type of the styles of the page. */
  media_type?: 'screen' | 'print'
  /** Language and region of the browser, as a BCP 47 tag; pages see it in `Accept-Language` and in scripts. */
  locale?: string
  /** IANA name of the time zone of the browser. */
  timezone?: string
  /** Location that the browser reports to the page. It does not change the IP address of the requests. */
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  /** URL of your own proxy: http or socks5, with a port. The password is never returned. */
  proxy?: string
  /** Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags. */
  extract_metadata?: boolean
  /** Content of the page to store besides the image, from the same load: `html` as rendered, readable `text`, `markdown`, `links`, the `accessibility` tree, `mhtml`; the requests as `har` and the messages of the `console`, without secrets. */
  outputs?: ('html' | 'text' | 'markdown' | 'links' | 'accessibility' | 'mhtml' | 'har' | 'console')[]
  /** Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free. */
  cache_ttl?: number
  /** Public https URL that is notified on completion. The request then returns immediately. */
  webhook_url?: string
  /** Name of an upload destination of the account, to whose bucket the image is uploaded once it is captured. */
  upload_to?: string
  /** Key of the uploaded object, under the prefix of the destination, with the placeholders `{id}`, `{date}`, `{host}`, `{format}`. */
  upload_key?: string
  /** A batch always returns its record. */
  response_type?: 'json'
}
