import t from 'tap'
import { busy } from '#test/fixtures/hostile/busy.ts'
import { testHostilePages } from '#test/helpers/hostile-pages.ts'

t.setTimeout(900_000)
await testHostilePages(t, busy)
