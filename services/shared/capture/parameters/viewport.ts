import { Type } from 'typebox'
import { deviceNames, deviceSizes } from './devices.ts'
import { byDefault, enumSchema, flag, integer } from '#shared/schema/fields.ts'
import { withDoc } from './kinds.ts'

/** Viewport and device. */
export const viewport = {
  width: withDoc(byDefault(integer(320, 3840), 1280), {
    description: 'Width of the viewport in CSS pixels.',
    example: 1440,
  }),
  height: withDoc(byDefault(integer(200, 2160), 800), {
    description: 'Height of the viewport in CSS pixels.',
    example: 900,
  }),
  device: withDoc(byDefault(enumSchema(deviceNames), 'desktop'), {
    description: 'Preset of viewport, touch and user agent; explicit values take precedence.',
    example: 'mobile',
    more: deviceSizes,
  }),
  orientation: withDoc(enumSchema(['portrait', 'landscape']), {
    description: 'Orientation of the device: swaps the width and height of its preset where they differ from it.',
    example: 'landscape',
  }),
  retina: withDoc(byDefault(flag(), false), {
    description: 'Captures at two device pixels per CSS pixel.',
    example: true,
  }),
  scale: withDoc(Type.Number({ minimum: 1, maximum: 4 }), {
    description: 'Device pixels per CSS pixel, from 1 to 4; takes precedence over `retina`.',
    example: 1.5,
    more: 'The viewport has at most 33,177,600 device pixels: 3840 × 2160 at `2`.',
  }),
}
