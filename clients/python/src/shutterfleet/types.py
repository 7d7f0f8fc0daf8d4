# Generated from docs/openapi.json by `make docs`.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Rendition(TypedDict):
    format: Literal["png", "jpeg", "webp", "avif", "tiff"]
    quality: NotRequired[int]
    resize_width: NotRequired[int]
    resize_height: NotRequired[int]
    resize_mode: NotRequired[Literal["fit", "cover", "contain"]]


class Clip(TypedDict):
    x: int
    y: int
    width: int
    height: int


class Action(TypedDict):
    type: Literal["click", "hover", "type", "press", "select", "scroll", "wait"]
    selector: NotRequired[str]
    text: NotRequired[str]
    key: NotRequired[Literal["Enter", "Tab", "Escape", "Backspace", "Delete", "Space", "Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]]
    value: NotRequired[str]
    x: NotRequired[int]
    y: NotRequired[int]
    milliseconds: NotRequired[int]


class Cookie(TypedDict):
    name: str
    value: str
    domain: NotRequired[str]


class Geolocation(TypedDict):
    latitude: float
    longitude: float
    accuracy: NotRequired[float]


class CaptureParameters(TypedDict):
    """Parameters of a capture: exactly one source, and any other parameters. Unknown names are rejected."""
    url: NotRequired[str]
    """URL of the page to capture. It must be http or https, and public."""
    html: NotRequired[str]
    """Raw HTML to capture. It is rendered at an opaque origin and may load public sub-resources."""
    markdown: NotRequired[str]
    """Markdown to capture: CommonMark and GFM, with footnotes, alerts, emoji names, math and Mermaid diagrams."""
    width: NotRequired[int]
    """Width of the viewport in CSS pixels."""
    height: NotRequired[int]
    """Height of the viewport in CSS pixels."""
    device: NotRequired[Literal["desktop", "mobile", "tablet", "iphone_se", "iphone_16", "iphone_16_pro_max", "pixel_9", "galaxy_s24", "ipad_mini", "ipad_pro_13", "galaxy_tab_s9", "macbook_air_13", "laptop", "desktop_full_hd"]]
    """Preset of viewport, touch and user agent; explicit values take precedence."""
    orientation: NotRequired[Literal["portrait", "landscape"]]
    """Orientation of the device: swaps the width and height of its preset where they differ from it."""
    retina: NotRequired[bool]
    """Captures at two device pixels per CSS pixel."""
    scale: NotRequired[float]
    """Device pixels per CSS pixel, from 1 to 4; takes precedence over `retina`."""
    format: NotRequired[Literal["png", "jpeg", "webp", "avif", "tiff", "pdf"]]
    """Format of the result."""
    quality: NotRequired[int]
    """Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning."""
    resize_width: NotRequired[int]
    """Shrinks the image to this width, keeping the aspect ratio."""
    resize_height: NotRequired[int]
    """Shrinks the image to this height, keeping the aspect ratio."""
    resize_mode: NotRequired[Literal["fit", "cover", "contain"]]
    """How the image becomes `resize_width` by `resize_height`: `fit` keeps all of it inside, `cover` fills both and cuts off the rest, `contain` fills what is left with the background."""
    resize_position: NotRequired[Literal["center", "top", "bottom", "left", "right"]]
    """Part of the image that `cover` keeps, or side at which `contain` places it."""
    renditions: NotRequired[list[Rendition]]
    """Up to 5 further images of the same load, each with `format` and, as for the image itself, `quality`, `resize_width`, `resize_height` and `resize_mode`."""
    clip: NotRequired[Clip]
    """Rectangle of the viewport, or of the full page, to capture, in CSS pixels from its top left."""
    omit_background: NotRequired[bool]
    """Makes the background transparent; only for PNG and WebP."""
    filename: NotRequired[str]
    """Name under which browsers save the result; the extension of its format is added if it is missing."""
    pdf_landscape: NotRequired[bool]
    """Uses landscape orientation for the pages of a PDF."""
    pdf_page_format: NotRequired[Literal["A3", "A4", "A5", "Letter", "Legal", "Tabloid"]]
    """Page size of a PDF."""
    pdf_width: NotRequired[str]
    """Width of the pages of a PDF, instead of that of `pdf_page_format`."""
    pdf_height: NotRequired[str]
    """Height of the pages of a PDF, instead of that of `pdf_page_format`."""
    pdf_css_page_size: NotRequired[bool]
    """Gives the pages of a PDF the size that the `@page` rules of the page set, as slides and labels do."""
    pdf_fit: NotRequired[Literal["width", "none"]]
    """What happens to content that is wider than the pages of a PDF: `width` shrinks the page until it fits, `none` cuts it off."""
    pdf_single_page: NotRequired[bool]
    """Prints a PDF on one page as wide as the paper and as high as the content."""
    pdf_scale: NotRequired[float]
    """Factor by which the content of a PDF is scaled, from 0.1 to 2."""
    pdf_background: NotRequired[bool]
    """Prints backgrounds in a PDF."""
    pdf_page_ranges: NotRequired[str]
    """Pages of a PDF to print; all by default. A full page or element has one page."""
    pdf_header: NotRequired[str]
    """HTML at the top of each page of a PDF, within its margin; elements with the classes `pageNumber`, `totalPages`, `title`, `url` and `date` are filled in."""
    pdf_footer: NotRequired[str]
    """HTML at the bottom of each page of a PDF, as `pdf_header`."""
    pdf_outline: NotRequired[bool]
    """Adds an outline of the headings to a PDF."""
    pdf_margin_top: NotRequired[str]
    """Top margin of the pages of a PDF: a number with a unit, at most half the page."""
    pdf_margin_right: NotRequired[str]
    """Right margin of the pages of a PDF: a number with a unit, at most half the page."""
    pdf_margin_bottom: NotRequired[str]
    """Bottom margin of the pages of a PDF: a number with a unit, at most half the page."""
    pdf_margin_left: NotRequired[str]
    """Left margin of the pages of a PDF: a number with a unit, at most half the page."""
    delay: NotRequired[int]
    """Seconds to wait after the page has loaded, before the capture."""
    delay_ms: NotRequired[int]
    """Milliseconds to wait after the page has loaded; takes precedence over `delay`."""
    timeout: NotRequired[int]
    """Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`."""
    on_timeout: NotRequired[Literal["fail", "capture"]]
    """What happens to a page that has not loaded, or not met what the request waits for, when `timeout` elapses: `fail`, the capture fails; `capture`, what is there is captured, with the warning `load_unfinished`."""
    wait_until: NotRequired[Literal["load", "network_idle", "domcontentloaded"]]
    """When the page counts as loaded: `load`, at its load event; `domcontentloaded`, once its document is parsed, without waiting for images, frames and style sheets; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`."""
    wait_for_selector: NotRequired[str]
    """CSS selector that must match before the capture."""
    wait_for_selector_hidden: NotRequired[str]
    """CSS selector that must match nothing visible before the capture, such as a loading indicator."""
    wait_for_function: NotRequired[str]
    """JavaScript expression, or function, that must be true before the capture; evaluated in the page until `timeout` elapses."""
    fail_on_status: NotRequired[bool]
    """Fails the capture, free of charge, if the page responds with a status of 400 or above."""
    fail_if_selector_missing: NotRequired[str]
    """Fails the capture, free of charge, if this CSS selector matches nothing."""
    fail_if_selector_present: NotRequired[str]
    """Fails the capture, free of charge, if this CSS selector matches something."""
    fail_if_text: NotRequired[str]
    """Fails the capture, free of charge, if the page shows this text, ignoring upper and lower case."""
    full_page: NotRequired[bool]
    """Captures the whole scrollable page instead of the viewport."""
    full_page_mode: NotRequired[Literal["tall", "sections"]]
    """How a full page is captured: `tall`, in a viewport as high as the page, so that what appears on scrolling is there; `sections`, one viewport after the other as a visitor scrolls, joined to one image."""
    full_page_width: NotRequired[Literal["content", "viewport"]]
    """Width of a full page: that of its content, if wider than the viewport, or always that of the viewport."""
    full_page_max_height: NotRequired[int]
    """Maximum height of a full page in CSS pixels; the rest is cut off, with the warning `truncated`."""
    selector: NotRequired[str]
    """CSS selector of the element to capture."""
    click_selector: NotRequired[str]
    """CSS selector of an element to click before the capture."""
    scroll_to: NotRequired[str]
    """CSS selector of an element to scroll into view before the capture."""
    hide_selectors: NotRequired[list[str]]
    """CSS selectors of elements to hide."""
    actions: NotRequired[list[Action]]
    """Steps on the page before the capture, in order: `click`, `hover`, `type` text, `press` a key, `select` an option by value or label, `scroll` to an element or position, `wait` for an element or time."""
    css: NotRequired[str]
    """CSS to add to the page."""
    js: NotRequired[str]
    """JavaScript to run on the page."""
    headers: NotRequired[dict[str, str]]
    """HTTP headers that the browser sends to the origin of the target. Values are never returned."""
    header_origins: NotRequired[list[str]]
    """Origins besides that of the target to which the browser sends `headers`."""
    cookies: NotRequired[list[Cookie]]
    """Cookies that are set before the page loads. Values are never returned."""
    local_storage: NotRequired[dict[str, str]]
    """Items of the local storage of the target that are set before the page loads. Values are never returned."""
    session_storage: NotRequired[dict[str, str]]
    """Items of the session storage of the target that are set before the page loads. Values are never returned."""
    block_cookies: NotRequired[bool]
    """Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain."""
    block_ads: NotRequired[bool]
    """Blocks requests to hosts of ads and trackers, and hides ad slots."""
    block_chats: NotRequired[bool]
    """Blocks requests to hosts of chat widgets, and hides the widgets."""
    block_trackers: NotRequired[bool]
    """Blocks requests to hosts that measure or follow visitors, but not ads; `block_ads` includes it."""
    block_popups: NotRequired[bool]
    """Hides overlays that ask visitors for something: newsletter sign-ups, app banners, notification prompts, age gates, and log-in or subscription walls."""
    block_requests: NotRequired[list[str]]
    """Blocks requests of the page whose URL matches one of these patterns, ignoring upper and lower case."""
    block_resources: NotRequired[list[Literal["image", "media", "font", "stylesheet", "script"]]]
    """Blocks requests of the page for these kinds of resources."""
    dark_mode: NotRequired[bool]
    """Emulates a preference for the dark colour scheme."""
    reduced_motion: NotRequired[bool]
    """Emulates a preference for reduced motion."""
    animations: NotRequired[Literal["finish", "allow"]]
    """`finish` shows animations and transitions at their end, endless ones at their start, so that the same page gives the same picture; `allow` lets them run."""
    user_agent: NotRequired[str]
    """User agent of the browser."""
    stealth: NotRequired[bool]
    """Captures with full Chromium, which appears to pages as an ordinary desktop browser. Returns 422 if the installation has no full Chromium."""
    media_type: NotRequired[Literal["screen", "print"]]
    """Media type of the styles of the page."""
    locale: NotRequired[str]
    """Language and region of the browser, as a BCP 47 tag; pages see it in `Accept-Language` and in scripts."""
    timezone: NotRequired[str]
    """IANA name of the time zone of the browser."""
    geolocation: NotRequired[Geolocation]
    """Location that the browser reports to the page. It does not change the IP address of the requests."""
    proxy: NotRequired[str]
    """URL of your own proxy: http or socks5, with a port. The password is never returned."""
    extract_metadata: NotRequired[bool]
    """Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags."""
    outputs: NotRequired[list[Literal["html", "text", "markdown", "links", "accessibility", "mhtml", "har", "console"]]]
    """Content of the page to store besides the image, from the same load: `html` as rendered, readable `text`, `markdown`, `links`, the `accessibility` tree, `mhtml`; the requests as `har` and the messages of the `console`, without secrets."""
    cache_ttl: NotRequired[int]
    """Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free."""
    webhook_url: NotRequired[str]
    """Public https URL that is notified on completion. The request then returns immediately."""
    upload_to: NotRequired[str]
    """Name of an upload destination of the account, to whose bucket the image is uploaded once it is captured."""
    upload_key: NotRequired[str]
    """Key of the uploaded object, under the prefix of the destination, with the placeholders `{id}`, `{date}`, `{host}`, `{format}`."""
    response_type: NotRequired[Literal["json", "image"]]
    """`image` returns the image, `json` the record."""


class BatchParameters(TypedDict):
    """URLs, and capture parameters that apply to each of them."""
    urls: list[str]
    """URLs of the pages to capture. If one is invalid, the whole batch is rejected."""
    width: NotRequired[int]
    """Width of the viewport in CSS pixels."""
    height: NotRequired[int]
    """Height of the viewport in CSS pixels."""
    device: NotRequired[Literal["desktop", "mobile", "tablet", "iphone_se", "iphone_16", "iphone_16_pro_max", "pixel_9", "galaxy_s24", "ipad_mini", "ipad_pro_13", "galaxy_tab_s9", "macbook_air_13", "laptop", "desktop_full_hd"]]
    """Preset of viewport, touch and user agent; explicit values take precedence."""
    orientation: NotRequired[Literal["portrait", "landscape"]]
    """Orientation of the device: swaps the width and height of its preset where they differ from it."""
    retina: NotRequired[bool]
    """Captures at two device pixels per CSS pixel."""
    scale: NotRequired[float]
    """Device pixels per CSS pixel, from 1 to 4; takes precedence over `retina`."""
    format: NotRequired[Literal["png", "jpeg", "webp", "avif", "tiff", "pdf"]]
    """Format of the result."""
    quality: NotRequired[int]
    """Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning."""
    resize_width: NotRequired[int]
    """Shrinks the image to this width, keeping the aspect ratio."""
    resize_height: NotRequired[int]
    """Shrinks the image to this height, keeping the aspect ratio."""
    resize_mode: NotRequired[Literal["fit", "cover", "contain"]]
    """How the image becomes `resize_width` by `resize_height`: `fit` keeps all of it inside, `cover` fills both and cuts off the rest, `contain` fills what is left with the background."""
    resize_position: NotRequired[Literal["center", "top", "bottom", "left", "right"]]
    """Part of the image that `cover` keeps, or side at which `contain` places it."""
    renditions: NotRequired[list[Rendition]]
    """Up to 5 further images of the same load, each with `format` and, as for the image itself, `quality`, `resize_width`, `resize_height` and `resize_mode`."""
    clip: NotRequired[Clip]
    """Rectangle of the viewport, or of the full page, to capture, in CSS pixels from its top left."""
    omit_background: NotRequired[bool]
    """Makes the background transparent; only for PNG and WebP."""
    filename: NotRequired[str]
    """Name under which browsers save the result; the extension of its format is added if it is missing."""
    pdf_landscape: NotRequired[bool]
    """Uses landscape orientation for the pages of a PDF."""
    pdf_page_format: NotRequired[Literal["A3", "A4", "A5", "Letter", "Legal", "Tabloid"]]
    """Page size of a PDF."""
    pdf_width: NotRequired[str]
    """Width of the pages of a PDF, instead of that of `pdf_page_format`."""
    pdf_height: NotRequired[str]
    """Height of the pages of a PDF, instead of that of `pdf_page_format`."""
    pdf_css_page_size: NotRequired[bool]
    """Gives the pages of a PDF the size that the `@page` rules of the page set, as slides and labels do."""
    pdf_fit: NotRequired[Literal["width", "none"]]
    """What happens to content that is wider than the pages of a PDF: `width` shrinks the page until it fits, `none` cuts it off."""
    pdf_single_page: NotRequired[bool]
    """Prints a PDF on one page as wide as the paper and as high as the content."""
    pdf_scale: NotRequired[float]
    """Factor by which the content of a PDF is scaled, from 0.1 to 2."""
    pdf_background: NotRequired[bool]
    """Prints backgrounds in a PDF."""
    pdf_page_ranges: NotRequired[str]
    """Pages of a PDF to print; all by default. A full page or element has one page."""
    pdf_header: NotRequired[str]
    """HTML at the top of each page of a PDF, within its margin; elements with the classes `pageNumber`, `totalPages`, `title`, `url` and `date` are filled in."""
    pdf_footer: NotRequired[str]
    """HTML at the bottom of each page of a PDF, as `pdf_header`."""
    pdf_outline: NotRequired[bool]
    """Adds an outline of the headings to a PDF."""
    pdf_margin_top: NotRequired[str]
    """Top margin of the pages of a PDF: a number with a unit, at most half the page."""
    pdf_margin_right: NotRequired[str]
    """Right margin of the pages of a PDF: a number with a unit, at most half the page."""
    pdf_margin_bottom: NotRequired[str]
    """Bottom margin of the pages of a PDF: a number with a unit, at most half the page."""
    pdf_margin_left: NotRequired[str]
    """Left margin of the pages of a PDF: a number with a unit, at most half the page."""
    delay: NotRequired[int]
    """Seconds to wait after the page has loaded, before the capture."""
    delay_ms: NotRequired[int]
    """Milliseconds to wait after the page has loaded; takes precedence over `delay`."""
    timeout: NotRequired[int]
    """Seconds within which the page must load; otherwise the capture fails with `TIMEOUT`."""
    on_timeout: NotRequired[Literal["fail", "capture"]]
    """What happens to a page that has not loaded, or not met what the request waits for, when `timeout` elapses: `fail`, the capture fails; `capture`, what is there is captured, with the warning `load_unfinished`."""
    wait_until: NotRequired[Literal["load", "network_idle", "domcontentloaded"]]
    """When the page counts as loaded: `load`, at its load event; `domcontentloaded`, once its document is parsed, without waiting for images, frames and style sheets; `network_idle`, once it has also made no requests for half a second. A page that does not become idle is captured when its `timeout` elapses, with the warning `network_busy`."""
    wait_for_selector: NotRequired[str]
    """CSS selector that must match before the capture."""
    wait_for_selector_hidden: NotRequired[str]
    """CSS selector that must match nothing visible before the capture, such as a loading indicator."""
    wait_for_function: NotRequired[str]
    """JavaScript expression, or function, that must be true before the capture; evaluated in the page until `timeout` elapses."""
    fail_on_status: NotRequired[bool]
    """Fails the capture, free of charge, if the page responds with a status of 400 or above."""
    fail_if_selector_missing: NotRequired[str]
    """Fails the capture, free of charge, if this CSS selector matches nothing."""
    fail_if_selector_present: NotRequired[str]
    """Fails the capture, free of charge, if this CSS selector matches something."""
    fail_if_text: NotRequired[str]
    """Fails the capture, free of charge, if the page shows this text, ignoring upper and lower case."""
    full_page: NotRequired[bool]
    """Captures the whole scrollable page instead of the viewport."""
    full_page_mode: NotRequired[Literal["tall", "sections"]]
    """How a full page is captured: `tall`, in a viewport as high as the page, so that what appears on scrolling is there; `sections`, one viewport after the other as a visitor scrolls, joined to one image."""
    full_page_width: NotRequired[Literal["content", "viewport"]]
    """Width of a full page: that of its content, if wider than the viewport, or always that of the viewport."""
    full_page_max_height: NotRequired[int]
    """Maximum height of a full page in CSS pixels; the rest is cut off, with the warning `truncated`."""
    selector: NotRequired[str]
    """CSS selector of the element to capture."""
    click_selector: NotRequired[str]
    """CSS selector of an element to click before the capture."""
    scroll_to: NotRequired[str]
    """CSS selector of an element to scroll into view before the capture."""
    hide_selectors: NotRequired[list[str]]
    """CSS selectors of elements to hide."""
    actions: NotRequired[list[Action]]
    """Steps on the page before the capture, in order: `click`, `hover`, `type` text, `press` a key, `select` an option by value or label, `scroll` to an element or position, `wait` for an element or time."""
    css: NotRequired[str]
    """CSS to add to the page."""
    js: NotRequired[str]
    """JavaScript to run on the page."""
    headers: NotRequired[dict[str, str]]
    """HTTP headers that the browser sends to the origin of the target. Values are never returned."""
    header_origins: NotRequired[list[str]]
    """Origins besides that of the target to which the browser sends `headers`."""
    cookies: NotRequired[list[Cookie]]
    """Cookies that are set before the page loads. Values are never returned."""
    local_storage: NotRequired[dict[str, str]]
    """Items of the local storage of the target that are set before the page loads. Values are never returned."""
    session_storage: NotRequired[dict[str, str]]
    """Items of the session storage of the target that are set before the page loads. Values are never returned."""
    block_cookies: NotRequired[bool]
    """Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain."""
    block_ads: NotRequired[bool]
    """Blocks requests to hosts of ads and trackers, and hides ad slots."""
    block_chats: NotRequired[bool]
    """Blocks requests to hosts of chat widgets, and hides the widgets."""
    block_trackers: NotRequired[bool]
    """Blocks requests to hosts that measure or follow visitors, but not ads; `block_ads` includes it."""
    block_popups: NotRequired[bool]
    """Hides overlays that ask visitors for something: newsletter sign-ups, app banners, notification prompts, age gates, and log-in or subscription walls."""
    block_requests: NotRequired[list[str]]
    """Blocks requests of the page whose URL matches one of these patterns, ignoring upper and lower case."""
    block_resources: NotRequired[list[Literal["image", "media", "font", "stylesheet", "script"]]]
    """Blocks requests of the page for these kinds of resources."""
    dark_mode: NotRequired[bool]
    """Emulates a preference for the dark colour scheme."""
    reduced_motion: NotRequired[bool]
    """Emulates a preference for reduced motion."""
    animations: NotRequired[Literal["finish", "allow"]]
    """`finish` shows animations and transitions at their end, endless ones at their start, so that the same page gives the same picture; `allow` lets them run."""
    user_agent: NotRequired[str]
    """User agent of the browser."""
    stealth: NotRequired[bool]
    """Captures with full Chromium, which appears to pages as an ordinary desktop browser. Returns 422 if the installation has no full Chromium."""
    media_type: NotRequired[Literal["screen", "print"]]
    """Media type of the styles of the page."""
    locale: NotRequired[str]
    """Language and region of the browser, as a BCP 47 tag; pages see it in `Accept-Language` and in scripts."""
    timezone: NotRequired[str]
    """IANA name of the time zone of the browser."""
    geolocation: NotRequired[Geolocation]
    """Location that the browser reports to the page. It does not change the IP address of the requests."""
    proxy: NotRequired[str]
    """URL of your own proxy: http or socks5, with a port. The password is never returned."""
    extract_metadata: NotRequired[bool]
    """Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags."""
    outputs: NotRequired[list[Literal["html", "text", "markdown", "links", "accessibility", "mhtml", "har", "console"]]]
    """Content of the page to store besides the image, from the same load: `html` as rendered, readable `text`, `markdown`, `links`, the `accessibility` tree, `mhtml`; the requests as `har` and the messages of the `console`, without secrets."""
    cache_ttl: NotRequired[int]
    """Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free."""
    webhook_url: NotRequired[str]
    """Public https URL that is notified on completion. The request then returns immediately."""
    upload_to: NotRequired[str]
    """Name of an upload destination of the account, to whose bucket the image is uploaded once it is captured."""
    upload_key: NotRequired[str]
    """Key of the uploaded object, under the prefix of the destination, with the placeholders `{id}`, `{date}`, `{host}`, `{format}`."""
    response_type: NotRequired[Literal["json"]]
    """A batch always returns its record."""


class WebhookParameters(TypedDict):
    url: str
    """Public https URL of the receiver. An account has at most 20 webhooks."""
    events: NotRequired[list[Literal["screenshot.completed", "screenshot.failed", "batch.completed", "quota.warning", "webhook.test"]]]
    """Events that are sent to the webhook."""
    description: NotRequired[str]
    """Free-text description."""
    active: NotRequired[bool]
    """Whether events are sent to the webhook."""


class WebhookChange(TypedDict):
    """Fields to change. Omitted fields keep their values."""
    url: NotRequired[str]
    """Public https URL of the receiver. An account has at most 20 webhooks."""
    events: NotRequired[list[Literal["screenshot.completed", "screenshot.failed", "batch.completed", "quota.warning", "webhook.test"]]]
    """Events that are sent to the webhook."""
    description: NotRequired[str]
    """Free-text description."""
    active: NotRequired[bool]
    """Whether events are sent to the webhook."""


class UploadDestinationParameters(TypedDict):
    name: str
    """Name, by which captures select the destination in `upload_to`."""
    endpoint: str
    """Public https URL of the S3-compatible store, without a path."""
    region: NotRequired[str]
    """Region that requests are signed for."""
    bucket: str
    """Name of the bucket, which must exist."""
    path_style: NotRequired[bool]
    """Whether the bucket is in the path of the URL; otherwise it is the first label of the host."""
    prefix: NotRequired[str]
    """Template that begins the key of every object, with the placeholders of `upload_key`."""
    access_key_id: str
    """Id of the access key that signs requests."""
    secret_access_key: str
    """Secret of the access key. Stored sealed, and never returned."""


class ApiKeyParameters(TypedDict):
    name: str
    """Name of the key, to recognize it."""
    domains: NotRequired[list[str]]
    """Hosts, or `*.` and a host, from whose pages the key may be used, so that it can be embedded in them. Default: from anywhere."""
    scopes: NotRequired[list[Literal["capture", "read", "manage"]]]
    """What the key may do: `capture` accepts captures and gets their results, `read` reads everything of the account, `manage` changes keys and webhooks, deletes and redelivers. Default: what the key that creates it may do; in the console everything."""
    expires_at: NotRequired[str | None]
    """Time at which the key expires, in ISO 8601 UTC. Default: never."""


class LinkParameters(TypedDict):
    parameters: dict[str, Any]
    """Parameters of the capture, as for a capture, without those that a link may not have. `cache_ttl` defaults to 86400."""
    expires_in: NotRequired[int]
    """Minutes for which the link is valid; 0: as long as its key is."""
    placeholder: NotRequired[bool]
    """Whether a grey image is shown while the first capture is made."""


class ScreenshotOptions(TypedDict):
    """Effective size and format, and the parameters given in the request, with secrets masked as `***`."""
    width: int
    height: int
    format: Literal["png", "jpeg", "webp", "avif", "tiff", "pdf"]
    device: NotRequired[Literal["desktop", "mobile", "tablet", "iphone_se", "iphone_16", "iphone_16_pro_max", "pixel_9", "galaxy_s24", "ipad_mini", "ipad_pro_13", "galaxy_tab_s9", "macbook_air_13", "laptop", "desktop_full_hd"]]
    orientation: NotRequired[Literal["portrait", "landscape"]]
    retina: NotRequired[bool]
    scale: NotRequired[float]
    quality: NotRequired[int]
    resize_width: NotRequired[int]
    resize_height: NotRequired[int]
    resize_mode: NotRequired[Literal["fit", "cover", "contain"]]
    resize_position: NotRequired[Literal["center", "top", "bottom", "left", "right"]]
    renditions: NotRequired[list[Rendition]]
    clip: NotRequired[Clip]
    omit_background: NotRequired[bool]
    filename: NotRequired[str]
    pdf_landscape: NotRequired[bool]
    pdf_page_format: NotRequired[Literal["A3", "A4", "A5", "Letter", "Legal", "Tabloid"]]
    pdf_width: NotRequired[str]
    pdf_height: NotRequired[str]
    pdf_css_page_size: NotRequired[bool]
    pdf_fit: NotRequired[Literal["width", "none"]]
    pdf_single_page: NotRequired[bool]
    pdf_scale: NotRequired[float]
    pdf_background: NotRequired[bool]
    pdf_page_ranges: NotRequired[str]
    pdf_header: NotRequired[str]
    pdf_footer: NotRequired[str]
    pdf_outline: NotRequired[bool]
    pdf_margin_top: NotRequired[str]
    pdf_margin_right: NotRequired[str]
    pdf_margin_bottom: NotRequired[str]
    pdf_margin_left: NotRequired[str]
    delay: NotRequired[int]
    delay_ms: NotRequired[int]
    timeout: NotRequired[int]
    on_timeout: NotRequired[Literal["fail", "capture"]]
    wait_until: NotRequired[Literal["load", "network_idle", "domcontentloaded"]]
    wait_for_selector: NotRequired[str]
    wait_for_selector_hidden: NotRequired[str]
    wait_for_function: NotRequired[str]
    fail_on_status: NotRequired[bool]
    fail_if_selector_missing: NotRequired[str]
    fail_if_selector_present: NotRequired[str]
    fail_if_text: NotRequired[str]
    full_page: NotRequired[bool]
    full_page_mode: NotRequired[Literal["tall", "sections"]]
    full_page_width: NotRequired[Literal["content", "viewport"]]
    full_page_max_height: NotRequired[int]
    selector: NotRequired[str]
    click_selector: NotRequired[str]
    scroll_to: NotRequired[str]
    hide_selectors: NotRequired[list[str]]
    actions: NotRequired[list[Action]]
    css: NotRequired[str]
    js: NotRequired[str]
    headers: NotRequired[dict[str, Any]]
    header_origins: NotRequired[list[str]]
    cookies: NotRequired[list[Cookie]]
    local_storage: NotRequired[dict[str, Any]]
    session_storage: NotRequired[dict[str, Any]]
    block_cookies: NotRequired[bool]
    block_ads: NotRequired[bool]
    block_chats: NotRequired[bool]
    block_trackers: NotRequired[bool]
    block_popups: NotRequired[bool]
    block_requests: NotRequired[list[str]]
    block_resources: NotRequired[list[Literal["image", "media", "font", "stylesheet", "script"]]]
    dark_mode: NotRequired[bool]
    reduced_motion: NotRequired[bool]
    animations: NotRequired[Literal["finish", "allow"]]
    user_agent: NotRequired[str]
    stealth: NotRequired[bool]
    media_type: NotRequired[Literal["screen", "print"]]
    locale: NotRequired[str]
    timezone: NotRequired[str]
    geolocation: NotRequired[Geolocation]
    proxy: NotRequired[str]
    extract_metadata: NotRequired[bool]
    outputs: NotRequired[list[Literal["html", "text", "markdown", "links", "accessibility", "mhtml", "har", "console"]]]
    cache_ttl: NotRequired[int]
    webhook_url: NotRequired[str]
    upload_to: NotRequired[str]
    upload_key: NotRequired[str]
    response_type: NotRequired[Literal["json", "image"]]
    source: NotRequired[Literal["html", "markdown"]]
    """Type of a source that is not a URL. Its text is never returned."""
    source_bytes: NotRequired[int]
    """Size of the HTML or Markdown source as UTF-8, in bytes."""
    source_sha256: NotRequired[str]
    """SHA-256 of the HTML or Markdown source, in hex."""


class CompletedScreenshotOptions(TypedDict):
    """As `ScreenshotOptions`, with the main parameters always present."""
    width: int
    height: int
    device: Literal["desktop", "mobile", "tablet", "iphone_se", "iphone_16", "iphone_16_pro_max", "pixel_9", "galaxy_s24", "ipad_mini", "ipad_pro_13", "galaxy_tab_s9", "macbook_air_13", "laptop", "desktop_full_hd"]
    retina: bool
    format: Literal["png", "jpeg", "webp", "avif", "tiff", "pdf"]
    quality: int
    delay: int
    timeout: int
    full_page: bool
    block_cookies: bool
    block_ads: bool
    dark_mode: bool
    orientation: NotRequired[Literal["portrait", "landscape"]]
    scale: NotRequired[float]
    resize_width: NotRequired[int]
    resize_height: NotRequired[int]
    resize_mode: NotRequired[Literal["fit", "cover", "contain"]]
    resize_position: NotRequired[Literal["center", "top", "bottom", "left", "right"]]
    renditions: NotRequired[list[Rendition]]
    clip: NotRequired[Clip]
    omit_background: NotRequired[bool]
    filename: NotRequired[str]
    pdf_landscape: NotRequired[bool]
    pdf_page_format: NotRequired[Literal["A3", "A4", "A5", "Letter", "Legal", "Tabloid"]]
    pdf_width: NotRequired[str]
    pdf_height: NotRequired[str]
    pdf_css_page_size: NotRequired[bool]
    pdf_fit: NotRequired[Literal["width", "none"]]
    pdf_single_page: NotRequired[bool]
    pdf_scale: NotRequired[float]
    pdf_background: NotRequired[bool]
    pdf_page_ranges: NotRequired[str]
    pdf_header: NotRequired[str]
    pdf_footer: NotRequired[str]
    pdf_outline: NotRequired[bool]
    pdf_margin_top: NotRequired[str]
    pdf_margin_right: NotRequired[str]
    pdf_margin_bottom: NotRequired[str]
    pdf_margin_left: NotRequired[str]
    delay_ms: NotRequired[int]
    on_timeout: NotRequired[Literal["fail", "capture"]]
    wait_until: NotRequired[Literal["load", "network_idle", "domcontentloaded"]]
    wait_for_selector: NotRequired[str]
    wait_for_selector_hidden: NotRequired[str]
    wait_for_function: NotRequired[str]
    fail_on_status: NotRequired[bool]
    fail_if_selector_missing: NotRequired[str]
    fail_if_selector_present: NotRequired[str]
    fail_if_text: NotRequired[str]
    full_page_mode: NotRequired[Literal["tall", "sections"]]
    full_page_width: NotRequired[Literal["content", "viewport"]]
    full_page_max_height: NotRequired[int]
    selector: NotRequired[str]
    click_selector: NotRequired[str]
    scroll_to: NotRequired[str]
    hide_selectors: NotRequired[list[str]]
    actions: NotRequired[list[Action]]
    css: NotRequired[str]
    js: NotRequired[str]
    headers: NotRequired[dict[str, Any]]
    header_origins: NotRequired[list[str]]
    cookies: NotRequired[list[Cookie]]
    local_storage: NotRequired[dict[str, Any]]
    session_storage: NotRequired[dict[str, Any]]
    block_chats: NotRequired[bool]
    block_trackers: NotRequired[bool]
    block_popups: NotRequired[bool]
    block_requests: NotRequired[list[str]]
    block_resources: NotRequired[list[Literal["image", "media", "font", "stylesheet", "script"]]]
    reduced_motion: NotRequired[bool]
    animations: NotRequired[Literal["finish", "allow"]]
    user_agent: NotRequired[str]
    stealth: NotRequired[bool]
    media_type: NotRequired[Literal["screen", "print"]]
    locale: NotRequired[str]
    timezone: NotRequired[str]
    geolocation: NotRequired[Geolocation]
    proxy: NotRequired[str]
    extract_metadata: NotRequired[bool]
    outputs: NotRequired[list[Literal["html", "text", "markdown", "links", "accessibility", "mhtml", "har", "console"]]]
    cache_ttl: NotRequired[int]
    webhook_url: NotRequired[str]
    upload_to: NotRequired[str]
    upload_key: NotRequired[str]
    response_type: NotRequired[Literal["json", "image"]]
    source: NotRequired[Literal["html", "markdown"]]
    """Type of a source that is not a URL. Its text is never returned."""
    source_bytes: NotRequired[int]
    """Size of the HTML or Markdown source as UTF-8, in bytes."""
    source_sha256: NotRequired[str]
    """SHA-256 of the HTML or Markdown source, in hex."""


class Timings(TypedDict):
    queue: NotRequired[int]
    claim: NotRequired[int]
    open: NotRequired[int]
    navigate: NotRequired[int]
    prepare: NotRequired[int]
    settle: NotRequired[int]
    shoot: NotRequired[int]
    encode: NotRequired[int]
    inspect: NotRequired[int]
    store: NotRequired[int]
    total: NotRequired[int]
    commit: NotRequired[int]


class Screenshot(TypedDict):
    """A screenshot. Fields that its state has not reached are absent, not null."""
    id: str
    """Id of the screenshot."""
    url: str | None
    """URL of the source, with its password masked; null if the source is HTML or Markdown."""
    options: ScreenshotOptions | CompletedScreenshotOptions
    created_at: str
    """Time of acceptance."""
    status: Literal["pending"] | Literal["processing"] | Literal["completed"] | Literal["failed"]
    batch_id: NotRequired[str]
    """Id of the batch, if the screenshot belongs to one."""
    upload: NotRequired[ScreenshotUpload]
    started_at: NotRequired[str]
    """Start time of the latest attempt."""
    timings: NotRequired[Timings]
    """Duration of each stage of the attempt, in milliseconds. `queue` is the wait between the request and the worker, `commit` the time between the result and the record; `total` is the time in the worker, from `open` to `store`."""
    completed_at: NotRequired[str]
    """End time of the capture."""
    file_size: NotRequired[int]
    """Size of the image in bytes."""
    mime_type: NotRequired[Literal["image/png", "image/jpeg", "image/webp", "image/avif", "image/tiff", "application/pdf"]]
    """Media type of the image."""
    width: NotRequired[int]
    """Width of the image in pixels."""
    height: NotRequired[int]
    """Height of the image in pixels; a full-page capture may be higher than the viewport."""
    processing_time_ms: NotRequired[int]
    """Duration of the capture in milliseconds."""
    image_url: NotRequired[str]
    """URL of the image. It requires the API key; a signed URL does not."""
    cached: NotRequired[bool]
    """Whether the result was reused from an earlier capture, at no charge."""
    warnings: NotRequired[list[Warning]]
    """Ways in which the result differs from the request. More codes may be added."""
    outputs: NotRequired[list[StoredOutput]]
    """Content of the page that was requested with `outputs`, and could be read."""
    renditions: NotRequired[list[StoredRendition]]
    """Images that were requested with `renditions`, in the same order."""
    metadata: NotRequired[PageMetadata]
    expires_at: NotRequired[str]
    """End of the retention of the image. Afterwards the image returns 410; the record remains."""
    target_status: NotRequired[int]
    """HTTP status of the page. A page that returns 404 is captured like any other."""
    final_url: NotRequired[str]
    """URL of the page after all redirects, with its password masked."""
    error: NotRequired[CaptureError]


class ScreenshotUpload(TypedDict):
    """Upload of the image, if requested with `upload_to`. It never changes the result of the capture."""
    status: Literal["pending", "succeeded", "failed"]
    """`pending` until the image is uploaded or given up; `failed`: no further attempt is scheduled."""
    bucket: str | None
    """Name of the bucket; null until the capture is completed."""
    key: str | None
    """Key of the object; null until the capture is completed."""
    attempts: int
    """Attempts so far."""
    http_status: int | None
    """HTTP status of the latest response; null if there was none."""
    error: Literal["status", "redirect", "blocked", "dns_failed", "connection_failed", "tls_failed", "timeout", "bad_answer", "expired", "access_denied", "no_such_bucket", "image_missing", "destination_deleted", None]
    """Why the latest attempt failed, or `destination_deleted`; null if it succeeded, or there was none."""


class Warning(TypedDict):
    code: str
    """Machine-readable code: `truncated`, `quality_ignored`, `parameter_ignored`, `selector_not_found`, `blank`, `undecoded_images` and others."""
    message: str
    """Human-readable message."""


class StoredOutput(TypedDict):
    name: Literal["html", "text", "markdown", "links", "accessibility", "mhtml", "har", "console"]
    """Name of the output."""
    url: str
    """URL of the file. It requires the API key."""
    mime_type: str
    """Media type of the file."""
    file_size: int
    """Size of the file in bytes."""


class StoredRendition(TypedDict):
    url: str
    """URL of the file. It requires the API key."""
    mime_type: str
    """Media type of the file."""
    file_size: int
    """Size of the file in bytes."""
    width: int
    """Width of the image in pixels."""
    height: int
    """Height of the image in pixels."""


class PageMetadata(TypedDict):
    """Metadata of the page, if requested with `extract_metadata`. Values that the page does not declare are absent; URLs are absolute, http or https."""
    title: NotRequired[str]
    """Title of the page, at most 500 characters."""
    description: NotRequired[str]
    """Description of the page, at most 1,000 characters."""
    canonical: NotRequired[str]
    """Canonical URL of the page."""
    language: NotRequired[str]
    """`lang` attribute of the root element."""
    favicon: NotRequired[str]
    """URL of the icon, if the page declares one."""
    og: NotRequired[dict[str, str]]
    """Tags whose name begins with `og:`, keyed without that prefix, such as `image` and `image:width`; the first value of a repeated tag."""
    twitter: NotRequired[dict[str, str]]
    """Tags whose name begins with `twitter:`, keyed without that prefix, such as `card`; the first value of a repeated tag."""


class CaptureError(TypedDict):
    code: Literal["TIMEOUT", "DNS_FAILED", "CONNECTION_FAILED", "BLOCKED", "INVALID_URL", "RENDER_ERROR", "JOB_FAILED"]
    """Reason for the failure."""
    message: str
    """Human-readable message."""


class EndedScreenshot(TypedDict):
    """A completed or failed screenshot."""
    id: str
    """Id of the screenshot."""
    url: str | None
    """URL of the source, with its password masked; null if the source is HTML or Markdown."""
    options: CompletedScreenshotOptions | ScreenshotOptions
    created_at: str
    """Time of acceptance."""
    status: Literal["completed"] | Literal["failed"]
    completed_at: NotRequired[str]
    """End time of the capture."""
    file_size: NotRequired[int]
    """Size of the image in bytes."""
    mime_type: NotRequired[Literal["image/png", "image/jpeg", "image/webp", "image/avif", "image/tiff", "application/pdf"]]
    """Media type of the image."""
    width: NotRequired[int]
    """Width of the image in pixels."""
    height: NotRequired[int]
    """Height of the image in pixels; a full-page capture may be higher than the viewport."""
    processing_time_ms: NotRequired[int]
    """Duration of the capture in milliseconds."""
    image_url: NotRequired[str]
    """URL of the image. It requires the API key; a signed URL does not."""
    cached: NotRequired[bool]
    """Whether the result was reused from an earlier capture, at no charge."""
    warnings: NotRequired[list[Warning]]
    """Ways in which the result differs from the request. More codes may be added."""
    batch_id: NotRequired[str]
    """Id of the batch, if the screenshot belongs to one."""
    started_at: NotRequired[str]
    """Start time of the latest attempt."""
    timings: NotRequired[Timings]
    """Duration of each stage of the attempt, in milliseconds. `queue` is the wait between the request and the worker, `commit` the time between the result and the record; `total` is the time in the worker, from `open` to `store`."""
    outputs: NotRequired[list[StoredOutput]]
    """Content of the page that was requested with `outputs`, and could be read."""
    renditions: NotRequired[list[StoredRendition]]
    """Images that were requested with `renditions`, in the same order."""
    metadata: NotRequired[PageMetadata]
    expires_at: NotRequired[str]
    """End of the retention of the image. Afterwards the image returns 410; the record remains."""
    target_status: NotRequired[int]
    """HTTP status of the page. A page that returns 404 is captured like any other."""
    final_url: NotRequired[str]
    """URL of the page after all redirects, with its password masked."""
    upload: NotRequired[ScreenshotUpload]
    error: NotRequired[CaptureError]


class AcceptedScreenshot(TypedDict):
    id: str
    """Id of the screenshot."""
    url: str | None
    """URL of the source, with its password masked; null if the source is HTML or Markdown."""
    options: ScreenshotOptions
    created_at: str
    """Time of acceptance."""
    status: Literal["pending", "processing", "completed", "failed"]
    """`pending`; if the request repeats an earlier one, the current status of its screenshot."""


class BatchSummary(TypedDict):
    id: str
    """Id of the batch."""
    status: Literal["pending", "processing", "completed"]
    """`pending`: no screenshot has started. `completed`: all have ended; some may have failed."""
    total: int
    """Number of screenshots in the batch, including deleted ones."""
    pending: int
    """Number of pending screenshots."""
    processing: int
    """Number of screenshots being processed."""
    completed: int
    """Number of completed screenshots."""
    failed: int
    """Number of failed screenshots."""
    created_at: str
    """Time of acceptance."""


class Batch(TypedDict):
    id: str
    """Id of the batch."""
    status: Literal["pending", "processing", "completed"]
    """`pending`: no screenshot has started. `completed`: all have ended; some may have failed."""
    total: int
    """Number of screenshots in the batch, including deleted ones."""
    pending: int
    """Number of pending screenshots."""
    processing: int
    """Number of screenshots being processed."""
    completed: int
    """Number of completed screenshots."""
    failed: int
    """Number of failed screenshots."""
    created_at: str
    """Time of acceptance."""
    screenshots: list[BatchMember]
    """Screenshots of the batch in the order of the request, without deleted ones."""


class BatchMember(TypedDict):
    index: int
    """Index of the URL in the request, starting at 0."""
    id: str
    """Id of the screenshot."""
    status: Literal["pending", "processing", "completed", "failed"]
    """Status of the screenshot."""
    url: str | None
    """URL of the source, with its password masked."""
    options: ScreenshotOptions | CompletedScreenshotOptions
    created_at: str
    """Time of acceptance."""


class Subscription(TypedDict):
    status: str
    """Status of the subscription."""
    current_period_end: str
    """Time of the next renewal."""


class Account(TypedDict):
    id: str
    """Id of the account."""
    name: str
    """Name of the account."""
    email: str
    """Email address of the owner."""
    plan: Plan
    subscription: Subscription | None
    """Subscription of the account; null if there is none."""


class Plan(TypedDict):
    name: str
    """Human-readable name."""
    slug: str
    """Machine-readable name."""
    screenshots_per_month: int | None
    """Monthly quota of screenshots; null if unlimited."""
    rate_limit_per_minute: int | None
    """Requests per minute; null if unlimited."""
    retention_hours: float
    """Retention of images in hours."""
    features: list[Literal["device_presets", "retina", "block_ads", "block_chats", "pdf", "html", "webhooks", "headers", "cookies", "batch", "dark_mode", "css", "js", "signed_urls", "stealth", "timezone", "extract_metadata", "markdown", "geolocation", "proxy"]]
    """Features of the plan beyond the basic ones."""
    overage_price: str | None
    """Price per screenshot beyond the quota; null if the quota cannot be exceeded."""
    max_api_keys: int | None
    """Maximum number of API keys of the account; null if unlimited."""
    price_monthly: str | None
    """Price per month."""
    price_yearly: str | None
    """Price per year, equal to that of ten months."""
    currency: str | None
    """Currency of the prices."""


class Usage(TypedDict):
    screenshots_used: int
    """Screenshots charged in this period, including those that have not ended."""
    screenshots_limit: int | None
    """Monthly quota of screenshots; null if unlimited."""
    screenshots_remaining: int | None
    """Screenshots left in the quota; null if unlimited."""
    usage_percentage: float | None
    """Percentage of the quota used, with two decimals, rounded down; above 100 with overage; null if unlimited."""
    period_start: str
    """Start of the period."""
    period_end: str
    """End of the period, when the count is reset."""
    overage: int
    """Number of screenshots beyond the quota."""
    overage_cost: str
    """Cost of the screenshots beyond the quota."""
    days: NotRequired[list[UsageDay]]
    """Usage by day, oldest first; only if requested by `from` or `to`."""


class Failure(TypedDict):
    code: Literal["TIMEOUT", "DNS_FAILED", "CONNECTION_FAILED", "BLOCKED", "INVALID_URL", "RENDER_ERROR", "JOB_FAILED"]
    """Reason for the failures."""
    count: int
    """Screenshots that failed for this reason."""


class UsageDay(TypedDict):
    day: str
    """Day of acceptance, in UTC."""
    charged: int
    """Screenshots charged: completed ones that were not cached, and those deleted while they ran."""
    completed: int
    """Completed screenshots."""
    cached: int
    """Those of them that share the result of another, free of charge."""
    failed: int
    """Failed screenshots, which are free of charge."""
    failures: list[Failure]
    """Failed screenshots by reason."""


class TargetLists(TypedDict):
    allow: list[str]
    """The only targets that captures may reach; empty: all that are not refused otherwise. Each entry is a host (example.com), *. and a host for all names below it, an IP address or a CIDR, each with an optional :port ([2001:db8::1]:443)."""
    deny: list[str]
    """Targets that captures may not reach; they win over `allow`. Entries as in `allow`."""


class ApiKey(TypedDict):
    id: str
    """Id of the key."""
    name: str
    """Name of the key."""
    prefix: str
    """First characters of the key, to recognize it."""
    domains: list[str]
    """Hosts from whose pages the key may be used; empty: from anywhere."""
    scopes: list[Literal["capture", "read", "manage"]]
    """What the key may do."""
    expires_at: str | None
    """Time at which the key expires; null: never."""
    created_at: str
    """Time of creation."""
    last_used_at: str | None
    """Time of the latest request with the key, to the minute; null before the first."""


class ApiKeyWithSecret(TypedDict):
    id: str
    """Id of the key."""
    name: str
    """Name of the key."""
    prefix: str
    """First characters of the key, to recognize it."""
    domains: list[str]
    """Hosts from whose pages the key may be used; empty: from anywhere."""
    scopes: list[Literal["capture", "read", "manage"]]
    """What the key may do."""
    expires_at: str | None
    """Time at which the key expires; null: never."""
    created_at: str
    """Time of creation."""
    last_used_at: str | None
    """Time of the latest request with the key, to the minute; null before the first."""
    key: str
    """The key. Returned only in this response."""


class Member(TypedDict):
    id: str
    """Id of the member."""
    email: str
    """Email address, in lower case."""
    role: Literal["owner", "member", "viewer"]
    """`owner`: also manages members; `member`: does everything else; `viewer`: only reads."""
    subject: str | None
    """Identifier of the person at the OpenID Connect provider (`sub`); null before the first sign-in with it."""
    created_at: str
    """Time at which the member was added."""
    last_sign_in_at: str | None
    """Time of the latest sign-in, for a member who has signed in with the provider of the latest one with it; null before."""


class SignInLink(TypedDict):
    url: str
    """The link, which works once. Returned only in this response."""
    expires_at: str
    """Time at which the link expires."""


class Webhook(TypedDict):
    id: str
    """Id of the webhook."""
    url: str
    """URL that events are sent to, with its password and its query masked as `***`."""
    events: list[Literal["screenshot.completed", "screenshot.failed", "batch.completed", "quota.warning", "webhook.test"]]
    """Events that are sent to the webhook."""
    description: str
    """Free-text description."""
    active: bool
    """Whether events are sent to the webhook."""
    created_at: str
    """Time of creation."""
    last_delivery_at: str | None
    """End time of the latest attempt; null before the first."""


class WebhookWithSecret(TypedDict):
    id: str
    """Id of the webhook."""
    url: str
    """URL that events are sent to, with its password and its query masked as `***`."""
    events: list[Literal["screenshot.completed", "screenshot.failed", "batch.completed", "quota.warning", "webhook.test"]]
    """Events that are sent to the webhook."""
    description: str
    """Free-text description."""
    active: bool
    """Whether events are sent to the webhook."""
    created_at: str
    """Time of creation."""
    last_delivery_at: str | None
    """End time of the latest attempt; null before the first."""
    secret: str
    """Secret that signs deliveries. Returned only in this response."""


class Delivery(TypedDict):
    id: str
    """Id of the delivery, sent as `webhook-id`; the same for all attempts."""
    event: Literal["screenshot.completed", "screenshot.failed", "batch.completed", "quota.warning", "webhook.test", "screenshot.upload", "upload.test"]
    """Name of the event; `screenshot.upload` for the upload of the image."""
    screenshot_id: str | None
    """Id of the screenshot that the event is about; null if there is none."""
    webhook_id: str | None
    """Id of the webhook; null for a delivery to the `webhook_url` of a request, and for an upload."""
    url: str
    """URL of the receiver, with secrets masked; of an upload that of the bucket."""
    status: Literal["pending", "delivered", "failed"]
    """`failed`: no further attempt is scheduled."""
    created_at: str
    """Time at which the delivery was queued."""
    sent_at: str | None
    """Start time of the first attempt."""
    next_attempt_at: str | None
    """Time at which the next attempt is due; null if none is scheduled."""
    attempts: list[DeliveryAttempt]
    """The latest 100 attempts, oldest first."""


class DeliveryAttempt(TypedDict):
    number: int
    """Number of the attempt, starting at 1."""
    at: str
    """Start time of the attempt."""
    status: int | None
    """HTTP status of the response; null if there was none."""
    ms: int
    """Duration of the attempt in milliseconds."""
    error: Literal["status", "redirect", "blocked", "dns_failed", "connection_failed", "tls_failed", "timeout", "bad_answer", "expired", "access_denied", "no_such_bucket", "image_missing", None]
    """Reason for the failure; null if the attempt succeeded."""


class QueuedDelivery(TypedDict):
    id: str
    """Id of the queued delivery."""


class UploadDestination(TypedDict):
    id: str
    """Id of the destination."""
    name: str
    """Name, by which captures select the destination in `upload_to`."""
    endpoint: str
    """URL of the S3-compatible store."""
    region: str
    """Region that requests are signed for."""
    bucket: str
    """Name of the bucket."""
    path_style: bool
    """Whether the bucket is in the path of the URL; otherwise it is the first label of the host."""
    prefix: str
    """Template that begins the key of every object."""
    access_key_id: str
    """Id of the access key that signs requests."""
    created_at: str
    """Time of creation."""
    last_upload: NotRequired[LastUpload]


class LastUpload(TypedDict):
    """The latest upload to the destination, a test included."""
    at: str
    """Time at which it was queued."""
    status: Literal["pending", "succeeded", "failed"]
    """`pending`: an attempt is due; `failed`: no further attempt is scheduled."""
    attempts: int
    """Attempts so far."""
    http_status: int | None
    """HTTP status of the latest response; null if there was none."""
    error: Literal["status", "redirect", "blocked", "dns_failed", "connection_failed", "tls_failed", "timeout", "bad_answer", "expired", "access_denied", "no_such_bucket", "image_missing", None]
    """Why the latest attempt failed; null if it succeeded."""


class SignedUrl(TypedDict):
    url: str
    """Link to the image, usable by anyone who has it."""
    expires_at: str | None
    """Time at which the link expires; null for a permanent link."""
    expires_in: int
    """Minutes for which the link is valid; 0 for a permanent link."""


class ActivityEntry(TypedDict):
    id: str
    """Id of the entry."""
    at: str
    """Time of the response."""
    key_id: str | None
    """Id of the API key that identified the request; null for a session of the console."""
    session_id: str | None
    """Id of the session of the console that identified the request."""
    client: str
    """IPv4 address, or IPv6 /64, of the request's client."""
    operation: str
    """`operationId` of the request, as in the OpenAPI document."""
    object_id: str | None
    """Id in the path, or of the screenshot that the request created; null if there is none."""
    status: int
    """HTTP status of the response."""
    code: str | None
    """Code of the error; null if the request succeeded."""


class LinkSecret(TypedDict):
    key_id: str
    """Id of the key, which a link has as `key_id`."""
    secret: str
    """The link secret, with which links are signed. Returned only in this response."""
    created_at: str
    """Time of creation."""
    previous_expires_at: str | None
    """Time from which links of the previous secret are no longer served; null: there are none."""


class Link(TypedDict):
    url: str
    """The link, usable by anyone who has it."""
    expires_at: str | None
    """Time at which the link expires; null: it does not."""
