import t from 'tap'
import { answers } from '#test/fixtures/hostile/answers.ts'
import { testHostilePages } from '#test/helpers/hostile-pages.ts'

t.setTimeout(300_000)
await testHostilePages(t, answers)
