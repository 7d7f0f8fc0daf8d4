import t from 'tap'
import { documents } from '#test/fixtures/hostile/documents.ts'
import { testHostilePages } from '#test/helpers/hostile-pages.ts'

t.setTimeout(300_000)
await testHostilePages(t, documents)
