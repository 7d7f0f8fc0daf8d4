import { Type, type Static } from 'typebox'
import { devices } from './parameters/devices.ts'
import { parameterGroups } from './parameters.ts'

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

/** Every parameter of a capture with its bounds, as the contract gives them. */
export const captureParameters = Type.Partial(
  Type.Object({
    ...parameterGroups.source,
    ...parameterGroups.viewport,
    ...parameterGroups.output,
    ...parameterGroups.pdf,
    ...parameterGroups.loading,
    ...parameterGroups.interaction,
    ...parameterGroups.injection,
    ...parameterGroups.blocking,
    ...parameterGroups.emulation,
    ...parameterGroups.advanced,
  }),
  { additionalProperties: false },
)

/** What a caller may send: every parameter optional, each within its bounds. */
export type CaptureParameters = Static<typeof captureParameters>

/** Body of the response to a capture. */
export type ResponseType = NonNullable<CaptureParameters['response_type']>

/** Name of a capture parameter. */
export type ParameterName = keyof CaptureParameters

type Properties = (typeof captureParameters)['properties']
type Defaulted = {
  [Name in ParameterName]: Properties[Name] extends { readonly default: unknown } ? Name : never
}[ParameterName]

/** Parameters with the defaults of the contract, as workers use them. Contains exactly one source. */
export type CaptureOptions = CaptureParameters & Required<Pick<CaptureParameters, Defaulted>>

const defaults = Object.fromEntries(
  Object.entries(captureParameters.properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
)

/** Fills in the defaults of the contract and of the device preset; supplied values override them. */
export const withDefaults = (supplied: CaptureParameters): CaptureOptions => {
  const { width, height } = devices[supplied.device ?? 'desktop']
  const [short, long] = [Math.min(width, height), Math.max(width, height)]
  const turned = { portrait: { width: short, height: long }, landscape: { width: long, height: short } }
  const size = supplied.orientation === undefined ? { width, height } : turned[supplied.orientation]
  return { ...defaults, ...size, ...supplied } as CaptureOptions
}

/** Device pixels per CSS pixel. */
export const effectiveScale = ({
  scale,
  retina,
  device,
}: Pick<CaptureOptions, 'scale' | 'retina' | 'device'>): number => scale ?? (retina ? 2 : devices[device].scale)

/** The contract's default of a parameter; undefined if it has none. */
export const defaultOf = (name: ParameterName): unknown => defaults[name]

/** Parameters that are stored in plain text, with the reason; all others are sealed. */
export const plainReasons: readonly (readonly [name: ParameterName, reason: string])[] = Object.entries(
  captureParameters.properties,
).flatMap(([name, { plain }]) => (plain === undefined ? [] : [[name as ParameterName, plain] as const]))
