import t from 'tap'
import { graphics } from '#test/fixtures/reference/graphics.ts'
import { testReferencePages } from '#test/helpers/reference-pages.ts'

await testReferencePages(t, graphics)
