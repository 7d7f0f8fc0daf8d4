import t from 'tap'
import { emulation } from '#test/fixtures/reference/emulation.ts'
import { testReferencePages } from '#test/helpers/reference-pages.ts'

await testReferencePages(t, emulation)
