// Generated from docs/openapi.json by `make docs`.

/** Effective size and format, and the parameters given in the request, with secrets masked as `***`. */
export interface ScreenshotOptions {
  width: number
  height: number
  format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  device?: 'desktop' | 'mobile' | 'tablet' | 'iphone_se' | 'iphone_16' | 'iphone_16_pro_max' | 'pixel_9' | 'galaxy_s24' | 'ipad_mini' | 'ipad_pro_13' | 'galaxy_tab_s9' | 'macbook_air_13' | 'laptop' | 'desktop_full_hd'
  orientation?: 'portrait' | 'landscape'
  retina?: boolean
  scale?: number
  quality?: number
  resize_width?: number
  resize_height?: number
  resize_mode?: 'fit' | 'cover' | 'contain'
  resize_position?: 'center' | 'top' | 'bottom' | 'left' | 'right'
  renditions?: { format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff'; quality?: number; resize_width?: number; resize_height?: number; resize_mode?: 'fit' | 'cover' | 'contain' }[]
  clip?: { x: number; y: number; width: number; height: number }
  omit_background?: boolean
  filename?: string
  pdf_landscape?: boolean
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  pdf_width?: string
  pdf_height?: string
  pdf_css_page_size?: boolean
  pdf_fit?: 'width' | 'none'
  pdf_single_page?: boolean
  pdf_scale?: number
  pdf_background?: boolean
  pdf_page_ranges?: string
  pdf_header?: string
  pdf_footer?: string
  pdf_outline?: boolean
  pdf_margin_top?: string
  pdf_margin_right?: string
  pdf_margin_bottom?: string
  pdf_margin_left?: string
  delay?: number
  delay_ms?: number
  timeout?: number
  on_timeout?: 'fail' | 'capture'
  wait_until?: 'load' | 'network_idle' | 'domcontentloaded'
  wait_for_selector?: string
  wait_for_selector_hidden?: string
  wait_for_function?: string
  fail_on_status?: boolean
  fail_if_selector_missing?: string
  fail_if_selector_present?: string
  fail_if_text?: string
  full_page?: boolean
  full_page_mode?: 'tall' | 'sections'
  full_page_width?: 'content' | 'viewport'
  full_page_max_height?: number
  selector?: string
  click_selector?: string
  scroll_to?: string
  hide_selectors?: string[]
  actions?: { type: 'click' | 'hover' | 'type' | 'press' | 'select' | 'scroll' | 'wait'; selector?: string; text?: string; key?: 'Enter' | 'Tab' | 'Escape' | 'Backspace' | 'Delete' | 'Space' | 'Home' | 'End' | 'PageUp' | 'PageDown' | 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'; value?: string; x?: number; y?: number; milliseconds?: number }[]
  css?: string
  js?: string
  headers?: Record<string, unknown>
  header_origins?: string[]
  cookies?: { name: string; value: string; domain?: string }[]
  local_storage?: Record<string, unknown>
  session_storage?: Record<string, unknown>
  block_cookies?: boolean
  block_ads?: boolean
  block_chats?: boolean
  block_trackers?: boolean
  block_popups?: boolean
  block_requests?: string[]
  block_resources?: ('image' | 'media' | 'font' | 'stylesheet' | 'script')[]
  dark_mode?: boolean
  reduced_motion?: boolean
  animations?: 'finish' | 'allow'
  user_agent?: string
  stealth?: boolean
  media_type?: 'screen' | 'print'
  locale?: string
  timezone?: string
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  proxy?: string
  extract_metadata?: boolean
  outputs?: ('html' | 'text' | 'markdown' | 'links' | 'accessibility' | 'mhtml' | 'har' | 'console')[]
  cache_ttl?: number
  webhook_url?: string
  upload_to?: string
  upload_key?: string
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
  device: 'desktop' | 'mobile' | 'tablet' | 'iphone_se' | 'iphone_16' | 'iphone_16_pro_max' | 'pixel_9' | 'galaxy_s24' | 'ipad_mini' | 'ipad_pro_13' | 'galaxy_tab_s9' | 'macbook_air_13' | 'laptop' | 'desktop_full_hd'
  retina: boolean
  format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'pdf'
  quality: number
  delay: number
  timeout: number
  full_page: boolean
  block_cookies: boolean
  block_ads: boolean
  dark_mode: boolean
  orientation?: 'portrait' | 'landscape'
  scale?: number
  resize_width?: number
  resize_height?: number
  resize_mode?: 'fit' | 'cover' | 'contain'
  resize_position?: 'center' | 'top' | 'bottom' | 'left' | 'right'
  renditions?: { format: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff'; quality?: number; resize_width?: number; resize_height?: number; resize_mode?: 'fit' | 'cover' | 'contain' }[]
  clip?: { x: number; y: number; width: number; height: number }
  omit_background?: boolean
  filename?: string
  pdf_landscape?: boolean
  pdf_page_format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid'
  pdf_width?: string
  pdf_height?: string
  pdf_css_page_size?: boolean
  pdf_fit?: 'width' | 'none'
  pdf_single_page?: boolean
  pdf_scale?: number
  pdf_background?: boolean
  pdf_page_ranges?: string
  pdf_header?: string
  pdf_footer?: string
  pdf_outline?: boolean
  pdf_margin_top?: string
  pdf_margin_right?: string
  pdf_margin_bottom?: string
  pdf_margin_left?: string
  delay_ms?: number
  on_timeout?: 'fail' | 'capture'
  wait_until?: 'load' | 'network_idle' | 'domcontentloaded'
  wait_for_selector?: string
  wait_for_selector_hidden?: string
  wait_for_function?: string
  fail_on_status?: boolean
  fail_if_selector_missing?: string
  fail_if_selector_present?: string
  fail_if_text?: string
  full_page_mode?: 'tall' | 'sections'
  full_page_width?: 'content' | 'viewport'
  full_page_max_height?: number
  selector?: string
  click_selector?: string
  scroll_to?: string
  hide_selectors?: string[]
  actions?: { type: 'click' | 'hover' | 'type' | 'press' | 'select' | 'scroll' | 'wait'; selector?: string; text?: string; key?: 'Enter' | 'Tab' | 'Escape' | 'Backspace' | 'Delete' | 'Space' | 'Home' | 'End' | 'PageUp' | 'PageDown' | 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'; value?: string; x?: number; y?: number; milliseconds?: number }[]
  css?: string
  js?: string
  headers?: Record<string, unknown>
  header_origins?: string[]
  cookies?: { name: string; value: string; domain?: string }[]
  local_storage?: Record<string, unknown>
  session_storage?: Record<string, unknown>
  block_chats?: boolean
  block_trackers?: boolean
  block_popups?: boolean
  block_requests?: string[]
  block_resources?: ('image' | 'media' | 'font' | 'stylesheet' | 'script')[]
  reduced_motion?: boolean
  animations?: 'finish' | 'allow'
  user_agent?: string
  stealth?: boolean
  media_type?: 'screen' | 'print'
  locale?: string
  timezone?: string
  geolocation?: { latitude: number; longitude: number; accuracy?: number }
  proxy?: string
  extract_metadata?: boolean
  outputs?: ('html' | 'text' | 'markdown' | 'links' | 'accessibility' | 'mhtml' | 'har' | 'console')[]
  cache_ttl?: number
  webhook_url?: string
  upload_to?: string
  upload_key?: string
  response_type?: 'json' | 'image'
  /** Type of a source that is not a URL. Its text is never returned. */
  source?: 'html' | 'markdown'
  /** Size of the HTML or Markdown source as UTF-8, in bytes. */
  source_bytes?: number
  /** SHA-256 of the HTML or Markdown source, in hex. */
  source_sha256?: string
}
