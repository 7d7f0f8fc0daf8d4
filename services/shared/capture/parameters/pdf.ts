import { Type } from 'typebox'
import { byDefault, enumSchema, flag } from '#shared/schema/fields.ts'
import { code, length, paper, withDoc } from './kinds.ts'

const units = 'The unit is px, in, cm, mm, pt, pc, Q, em or rem.'
const margin = (side: string) =>
  withDoc(length(), {
    description: `${side} margin of the pages of a PDF: a number with a unit, at most half the page.`,
    example: '20mm',
    more: units,
    appliesTo: 'pdf',
  })
const pageSide = (side: string, example: string) =>
  withDoc(paper(), {
    description: `${side} of the pages of a PDF, instead of that of \`pdf_page_format\`.`,
    example,
    more: units,
    appliesTo: 'pdf',
  })

/** Pages of a PDF. */
export const pdf = {
  pdf_landscape: withDoc(byDefault(flag(), false), {
    description: 'Uses landscape orientation for the pages of a PDF.',
    example: true,
    appliesTo: 'pdf',
  }),
  pdf_page_format: withDoc(byDefault(enumSchema(['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid']), 'A4'), {
    description: 'Page size of a PDF.',
    example: 'Letter',
    appliesTo: 'pdf',
  }),
  pdf_width: pageSide('Width', '148mm'),
  pdf_height: pageSide('Height', '105mm'),
  pdf_css_page_size: withDoc(byDefault(flag(), false), {
    description: 'Gives the pages of a PDF the size that the `@page` rules of the page set, as slides and labels do.',
    example: true,
    more: 'Without such a rule they have that of the other parameters. Not for one page, a full page or an element.',
    appliesTo: 'pdf',
  }),
  pdf_fit: withDoc(byDefault(enumSchema(['width', 'none']), 'width'), {
    description:
      'What happens to content that is wider than the pages of a PDF: `width` shrinks the page until it fits, `none` cuts it off.',
    example: 'none',
    more: 'Shrinks to 40 % at most, besides the third that the browser shrinks by itself; what is cut off then has the warning `truncated`. Not for a page that sets the size of its paper or hides what is beyond its width.',
    appliesTo: 'pdf',
  }),
  pdf_single_page: withDoc(byDefault(flag(), false), {
    description: 'Prints a PDF on one page as wide as the paper and as high as the content.',
    example: true,
    more: 'With print styles, unlike `full_page`, whose page is as wide as the viewport. The height of the paper has no effect.',
    appliesTo: 'pdf',
  }),
  pdf_scale: withDoc(byDefault(Type.Number({ minimum: 0.1, maximum: 2 }), 1), {
    description: 'Factor by which the content of a PDF is scaled, from 0.1 to 2.',
    example: 0.8,
    appliesTo: 'pdf',
  }),
  pdf_background: withDoc(byDefault(flag(), true), {
    description: 'Prints backgrounds in a PDF.',
    example: false,
    more: 'The margins have the colour of the page too, unless its background is an image.',
    appliesTo: 'pdf',
  }),
  pdf_page_ranges: withDoc(
    Type.String({
      maxLength: 100,
      pattern: '^[1-9]\\d{0,3}(-[1-9]\\d{0,3})?(,[1-9]\\d{0,3}(-[1-9]\\d{0,3})?)*$',
      expected: 'page numbers and ranges such as 1-3,5',
    }),
    {
      description: 'Pages of a PDF to print; all by default. A full page or element has one page.',
      example: '1-3,5',
      appliesTo: 'pdf',
    },
  ),
  pdf_header: withDoc(code(), {
    description:
      'HTML at the top of each page of a PDF, within its margin; elements with the classes `pageNumber`, `totalPages`, `title`, `url` and `date` are filled in.',
    example: '<span style="font-size:8px" class="title"></span>',
    more: 'Text, styles without `@import` and `@font-face`, and PNG, JPEG, GIF or WebP images as `data:` addresses; all else is removed, with the warning `template_reduced`. The date is in `locale` and `timezone`. Set a font size: the default is 0.',
    appliesTo: 'pdf',
  }),
  pdf_footer: withDoc(code(), {
    description: 'HTML at the bottom of each page of a PDF, as `pdf_header`.',
    example: '<span style="font-size:8px"><span class="pageNumber"></span> of <span class="totalPages"></span></span>',
    appliesTo: 'pdf',
  }),
  pdf_outline: withDoc(byDefault(flag(), false), {
    description: 'Adds an outline of the headings to a PDF.',
    example: true,
    appliesTo: 'pdf',
  }),
  pdf_margin_top: margin('Top'),
  pdf_margin_right: margin('Right'),
  pdf_margin_bottom: margin('Bottom'),
  pdf_margin_left: margin('Left'),
}
