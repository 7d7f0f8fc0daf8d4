import t from 'tap'
import { pictures } from '#test/fixtures/reference/pictures.ts'
import { testReferencePages } from '#test/helpers/reference-pages.ts'

await testReferencePages(t, pictures)
