import t from 'tap'
import { scripts } from '#test/fixtures/hostile/scripts.ts'
import { testHostilePages } from '#test/helpers/hostile-pages.ts'

t.setTimeout(300_000)
await testHostilePages(t, scripts)
