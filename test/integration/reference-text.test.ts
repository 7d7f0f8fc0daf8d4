import t from 'tap'
import { text } from '#test/fixtures/reference/text.ts'
import { testReferencePages } from '#test/helpers/reference-pages.ts'

await testReferencePages(t, text)
