import { type TSchema, Type } from 'typebox'
import { byDefault, enumSchema, integer, line } from '#shared/schema/fields.ts'

const noNul = '^[^\\u0000]*$'

/** A source as text. */
export const sourceText = () =>
  Type.String({
    minLength: 1,
    maxLength: 500_000,
    pattern: noNul,
    expected: 'a string of 1 to 500000 characters without NUL',
  })
/** CSS, JavaScript or HTML of the caller. */
export const code = () =>
  Type.String({
    maxLength: 10_000,
    pattern: noNul,
    expected: 'a string of at most 10000 characters without NUL',
  })
/** A CSS selector; its form is checked separately. */
export const selector = () => line(1, 500)
/** A margin of a page. */
export const length = () =>
  byDefault(
    Type.String({
      maxLength: 20,
      pattern: '^(0{1,6}(\\.0{1,4})?|\\.0{1,4}|(\\d{1,6}(\\.\\d{1,4})?|\\.\\d{1,4})(px|in|cm|mm|pt|pc|Q|em|rem))$',
      expected: 'a number from 0 with one of px, in, cm, mm, pt, pc, Q, em, rem, at most half the page',
    }),
    '10mm',
  )
/** A side of a page; its bounds are checked separately. */
export const paper = () =>
  Type.String({
    maxLength: 20,
    pattern: '^\\d{1,5}(\\.\\d{1,4})?(px|in|cm|mm|pt|pc|Q|em|rem)$',
    expected: 'a number with one of px, in, cm, mm, pt, pc, Q, em, rem, from 25mm to 2000mm',
  })
/** A cookie to set. */
export const cookie = Type.Object(
  { name: line(1, 4096), value: line(0, 4096), domain: Type.Optional(line(1, 255)) },
  { additionalProperties: false },
)
/** Keys that an action can press. */
const keyNames = [
  ...(['Enter', 'Tab', 'Escape', 'Backspace', 'Delete', 'Space', 'Home', 'End', 'PageUp', 'PageDown'] as const),
  ...(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'] as const),
] as const
/** A step of `actions`; which fields belong to a type is checked separately. */
export const action = Type.Object(
  {
    type: enumSchema(['click', 'hover', 'type', 'press', 'select', 'scroll', 'wait']),
    selector: Type.Optional(selector()),
    text: Type.Optional(line(1, 1000)),
    key: Type.Optional(enumSchema(keyNames)),
    value: Type.Optional(line(1, 500)),
    x: Type.Optional(integer(0, 20_000)),
    y: Type.Optional(integer(0, 20_000)),
    milliseconds: Type.Optional(integer(0, 10_000)),
  },
  { additionalProperties: false },
)
/** Content of the page, and of what it did while it loaded, that can be requested besides its image. */
export const outputNames = ['html', 'text', 'markdown', 'links', 'accessibility', 'mhtml', 'har', 'console'] as const
/** Formats of images. */
export const imageFormats = ['png', 'jpeg', 'webp', 'avif', 'tiff'] as const
/** Quality of an image with lossy compression. */
export const quality = () => integer(1, 100)
/** Width in pixels to which an image is resized. */
export const resizeWidth = () => integer(16, 3840)
/** Height in pixels to which an image is resized. */
export const resizeHeight = () => integer(16, 2160)
/** How an image is resized. */
export const resizeModes = ['fit', 'cover', 'contain'] as const
/** Most renditions of a capture. */
export const renditionsMax = 5
/** Longest side to which a rendition is resized, in pixels: the longest of a picture that models accept. */
export const renditionSideMax = 8000
/** Another format or size of the image. */
export const rendition = Type.Object(
  {
    format: enumSchema(imageFormats),
    quality: Type.Optional(quality()),
    resize_width: Type.Optional(integer(16, renditionSideMax)),
    resize_height: Type.Optional(integer(16, renditionSideMax)),
    resize_mode: Type.Optional(enumSchema(resizeModes)),
  },
  { additionalProperties: false },
)
/** Items of a page's storage by name. */
export const storageItems = () => Type.Record(Type.String(), line(0, 4096), { maxProperties: 20 })

/**
 * Documentation of a parameter; `more` appears only in docs/parameters.md. With `appliesTo`, a record has a warning if the
 * parameter is supplied for anything else.
 */
export type ParameterDoc = {
  readonly description: string
  readonly example: unknown
  readonly more?: string
  readonly appliesTo?: 'pdf' | 'image' | 'url'
  /** Why it is stored in plain text. */
  readonly plain?: string
}

/** Adds documentation. */
export const withDoc = <Schema extends TSchema>(schema: Schema, doc: ParameterDoc) => Object.assign(schema, doc)
