import { captureParameters, type ParameterName } from '#shared/capture/options.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import type { Parameter } from './contract.ts'
import type { JsonSchema } from './json-schema.ts'

/** What a capture parameter does, in a sentence, with an example. */
export type ParameterNote = { readonly note: string; readonly example: unknown }

const say = (note: string, example: unknown): ParameterNote => ({ note, example })

const margin = (side: string) =>
  say(`Margin of a PDF's pages, ${side}: a number with a unit, at most half the page.`, '20mm')

/** Every capture parameter explained to its callers. Bounds and defaults stand in the schema that validates. */
const parameterNotes: Readonly<Record<ParameterName, ParameterNote>> = {
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

/** A schema that validates, in the words of OpenAPI: what it may be stands beside its type, records of any name say so. */
const translated = (schema: JsonSchema): JsonSchema => {
  const { patternProperties, description: _, ...rest } = schema
  const values = Object.values((patternProperties ?? {}) as Record<string, JsonSchema>)[0]
  const { items, properties } = rest as { items?: JsonSchema; properties?: Record<string, JsonSchema> }
  return {
    ...('enum' in rest && { type: 'string' }),
    ...rest,
    ...(items && { items: translated(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, translated(each)])),
    }),
    ...(values && { additionalProperties: translated(values) }),
  }
}

/** The schema of a capture parameter, from the one that validates, with its note. */
const parameterSchema = (name: ParameterName): JsonSchema => ({
  ...translated({ ...captureParameters.properties[name] }),
  description: parameterNotes[name].note,
})

/** Names of all capture parameters, in the contract's order. */
const parameterNames = Object.keys(captureParameters.properties) as ParameterName[]

/** How lists and objects stand in a query; each has other encodings too. Lists of objects have no style but JSON. */
const encodings: Partial<Record<ParameterName, 'form' | 'deepObject' | 'json'>> = {
  hide_selectors: 'form',
  headers: 'deepObject',
  geolocation: 'deepObject',
  cookies: 'json',
}

const encoded = (name: ParameterName, schema: JsonSchema): JsonSchema => {
  const { example } = parameterNotes[name]
  const encoding = encodings[name]
  if (encoding === 'json') return { content: { 'application/json': { schema, example } } }
  return { ...(encoding && { style: encoding, explode: true }), schema, example }
}

/** The capture parameters as parameters of a query. */
export const captureQuery = (): Parameter[] =>
  parameterNames.map((name) => {
    const { description, ...schema } = parameterSchema(name)
    return { name, in: 'query', description, ...encoded(name, schema) }
  })

const sourceNames = ['url', 'html', 'markdown'] as const

const fieldsWithout = (left: readonly string[]) =>
  Object.fromEntries(parameterNames.filter((name) => !left.includes(name)).map((name) => [name, parameterSchema(name)]))

/** The body of a capture. */
export const captureSchema: JsonSchema = {
  type: 'object',
  description: 'Parameters of a capture: exactly one source, and whatever else is wanted. Unknown names are refused.',
  properties: fieldsWithout([]),
  additionalProperties: false,
  oneOf: sourceNames.map((name) => ({ required: [name] })),
}

/** The body of a batch. */
export const batchSchema: JsonSchema = {
  type: 'object',
  description: 'URLs, and capture parameters that hold for each of them.',
  properties: {
    urls: {
      type: 'array',
      minItems: 1,
      maxItems: urlsMax,
      items: parameterSchema('url'),
      description: 'Pages to capture. One that is invalid refuses all.',
    },
    ...fieldsWithout([...sourceNames, 'response_type']),
    response_type: { type: 'string', enum: ['json'], description: 'A batch is answered with its record.' },
  },
  required: ['urls'],
  additionalProperties: false,
}
