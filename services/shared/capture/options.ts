import { Type, type Static, type TSchema } from 'typebox'
import { devices } from './devices.ts'

/** Image formats that the contract names, with their media types. */
export const mediaTypes = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  tiff: 'image/tiff',
  pdf: 'application/pdf',
} as const

/** An output format of the contract. */
export type Format = keyof typeof mediaTypes

const noControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
const noNul = '^[^\\u0000]*$'

/** A default is part of the type, so that options with it are never undefined. */
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

const sources = { url: line(2048), html: source(), markdown: source() }

const viewport = {
  width: byDefault(integer(320, 3840), 1280),
  height: byDefault(integer(200, 2160), 800),
  device: byDefault(Type.Enum(['desktop', 'mobile', 'tablet']), 'desktop'),
  retina: flag(false),
}

const output = {
  format: byDefault(Type.Enum(['png', 'jpeg', 'webp', 'avif', 'tiff', 'pdf']), 'png'),
  quality: byDefault(integer(1, 100), 80),
  resize_width: integer(16, 3840),
  resize_height: integer(16, 2160),
  omit_background: flag(false),
}

const pdf = {
  pdf_landscape: flag(false),
  pdf_page_format: byDefault(Type.Enum(['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid']), 'A4'),
  pdf_margin_top: length(),
  pdf_margin_right: length(),
  pdf_margin_bottom: length(),
  pdf_margin_left: length(),
}

const loading = {
  delay: byDefault(integer(0, 10), 0),
  timeout: byDefault(integer(5, 60), 30),
  wait_until: byDefault(Type.Enum(['load', 'network_idle']), 'load'),
  wait_for_selector: selector(),
  full_page: flag(false),
}

const interaction = {
  selector: selector(),
  click_selector: selector(),
  scroll_to: selector(),
  hide_selectors: Type.Array(selector(), { maxItems: 20 }),
}

const cookie = Type.Object(
  { name: line(4096), value: line(4096, 0), domain: Type.Optional(line(255)) },
  { additionalProperties: false },
)

const injection = {
  css: code(),
  js: code(),
  headers: Type.Record(Type.String(), line(4096, 0), { maxProperties: 20 }),
  cookies: Type.Array(cookie, { maxItems: 20 }),
}

const blocking = { block_cookies: flag(true), block_ads: flag(false), block_chats: flag(false) }

const emulation = {
  dark_mode: flag(false),
  reduced_motion: flag(false),
  user_agent: line(500),
  stealth: flag(false),
  timezone: line(100),
  geolocation: Type.Object(
    {
      latitude: Type.Number({ minimum: -90, maximum: 90 }),
      longitude: Type.Number({ minimum: -180, maximum: 180 }),
      accuracy: Type.Optional(Type.Number({ minimum: 0, maximum: 100_000 })),
    },
    { additionalProperties: false },
  ),
  proxy: line(2048),
}

const advanced = {
  extract_metadata: flag(false),
  cache_ttl: byDefault(integer(0, 86_400), 0),
  webhook_url: line(2048),
  response_type: Type.Enum(['json', 'image']),
}

/** The parameters by the groups of the contract. */
export const parameterGroups = {
  source: sources,
  viewport,
  output,
  pdf,
  loading,
  interaction,
  injection,
  blocking,
  emulation,
  advanced,
}

/** Every parameter of a capture with its bounds, as the contract gives them. Defaults stand beside the bounds; sources have none. */
export const captureParameters = Type.Partial(
  Type.Object({
    ...sources,
    ...viewport,
    ...output,
    ...pdf,
    ...loading,
    ...interaction,
    ...injection,
    ...blocking,
    ...emulation,
    ...advanced,
  }),
  { additionalProperties: false },
)

/** What a caller may send: every parameter optional, each within its bounds. */
export type CaptureParameters = Static<typeof captureParameters>

/** What a capture is answered with. */
export type ResponseType = NonNullable<CaptureParameters['response_type']>

/** Name of a capture parameter. */
export type ParameterName = keyof CaptureParameters

type Properties = (typeof captureParameters)['properties']
type Defaulted = {
  [Name in ParameterName]: Properties[Name] extends { readonly default: unknown } ? Name : never
}[ParameterName]

/** Parameters with the defaults of the contract filled in: what a worker acts on. Holds exactly one source. */
export type CaptureOptions = CaptureParameters & Required<Pick<CaptureParameters, Defaulted>>

const defaults = Object.fromEntries(
  Object.entries(captureParameters.properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
)

/** Fills in the defaults of the contract, those of the device preset included; what was supplied wins. */
export const withDefaults = (supplied: CaptureParameters): CaptureOptions => {
  const { width, height } = devices[supplied.device ?? 'desktop']
  return { ...defaults, width, height, ...supplied } as CaptureOptions
}

/** The default that the contract gives for a parameter, or undefined where it gives none. */
export const defaultOf = (name: ParameterName): unknown => defaults[name]
