import { Type } from 'typebox'
import { byDefault, enumSchema, flag, integer } from '#shared/schema/fields.ts'
import {
  imageFormats,
  quality,
  rendition,
  renditionsMax,
  resizeHeight,
  resizeModes,
  resizeWidth,
  withDoc,
} from './kinds.ts'

const neverEnlarged =
  'If both `resize_width` and `resize_height` are given, the image fits inside them. It is never enlarged.'

/** Format and size of an image. */
export const output = {
  format: withDoc(byDefault(enumSchema([...imageFormats, 'pdf']), 'png'), {
    description: 'Format of the result.',
    example: 'png',
    plain: 'the ledger counts captures by it',
  }),
  quality: withDoc(byDefault(quality(), 80), {
    description: 'Quality of JPEG, WebP and AVIF; ignored for other formats, with a warning.',
    example: 90,
  }),
  resize_width: withDoc(resizeWidth(), {
    description: 'Shrinks the image to this width, keeping the aspect ratio.',
    example: 640,
    more: neverEnlarged,
    appliesTo: 'image',
  }),
  resize_height: withDoc(resizeHeight(), {
    description: 'Shrinks the image to this height, keeping the aspect ratio.',
    example: 480,
    more: neverEnlarged,
    appliesTo: 'image',
  }),
  resize_mode: withDoc(byDefault(enumSchema(resizeModes), 'fit'), {
    description:
      'How the image becomes `resize_width` by `resize_height`: `fit` keeps all of it inside, `cover` fills both and cuts off the rest, `contain` fills what is left with the background.',
    example: 'cover',
    more: '`cover` and `contain` need both sizes. The image is never enlarged: `cover` of a smaller one cuts it only, `contain` pads it.',
    appliesTo: 'image',
  }),
  resize_position: withDoc(byDefault(enumSchema(['center', 'top', 'bottom', 'left', 'right']), 'center'), {
    description: 'Part of the image that `cover` keeps, or side at which `contain` places it.',
    example: 'top',
    appliesTo: 'image',
  }),
  renditions: withDoc(Type.Array(rendition, { maxItems: renditionsMax }), {
    description:
      'Up to 5 further images of the same load, each with `format` and, as for the image itself, `quality`, `resize_width`, `resize_height` and `resize_mode`.',
    example: [{ format: 'webp', resize_width: 320 }],
    more: 'Each is downloaded from its `url` in the record. `quality` is that of the image unless given. They are free of charge.',
    appliesTo: 'image',
  }),
  clip: withDoc(
    Type.Object(
      { x: integer(0, 20_000), y: integer(0, 20_000), width: integer(1, 20_000), height: integer(1, 20_000) },
      { additionalProperties: false },
    ),
    {
      description: 'Rectangle of the viewport, or of the full page, to capture, in CSS pixels from its top left.',
      example: { x: 0, y: 100, width: 600, height: 400 },
      more: 'What lies outside of the page is cut off. A `selector` takes precedence.',
      appliesTo: 'image',
    },
  ),
  omit_background: withDoc(byDefault(flag(), false), {
    description: 'Makes the background transparent; only for PNG and WebP.',
    example: true,
  }),
  filename: withDoc(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f"\\\\/:*?<>|]+$',
      expected: 'a name of 1 to 100 characters without control characters and " \\ / : * ? < > |',
    }),
    {
      description: 'Name under which browsers save the result; the extension of its format is added if it is missing.',
      example: 'invoice-42',
      more: 'Defaults to the id of the capture.',
      plain: 'links serve it, which need no key of a record',
    },
  ),
}
