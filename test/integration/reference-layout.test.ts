import t from 'tap'
import { layout } from '#test/fixtures/reference/layout.ts'
import { testReferencePages } from '#test/helpers/reference-pages.ts'

await testReferencePages(t, layout)
