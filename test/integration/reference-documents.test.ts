import t from 'tap'
import { documents } from '#test/fixtures/reference/documents.ts'
import { testReferencePages } from '#test/helpers/reference-pages.ts'

await testReferencePages(t, documents)
