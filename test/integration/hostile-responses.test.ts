import t from 'tap'
import { responses } from '#test/fixtures/hostile/responses.ts'
import { testHostilePages } from '#test/helpers/hostile-pages.ts'

t.setTimeout(300_000)
await testHostilePages(t, responses)
