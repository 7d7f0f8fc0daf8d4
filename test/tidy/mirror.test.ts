import t from 'tap'
import { mirror } from './checks/mirror.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

await testCheck(t, {
  check: mirror,
  real: () => mirror(readSources()),
  bad: [
    {
      name: 'a unit test whose source has moved',
      tree: { 'test/unit/shared/x.test.ts': '', 'services/shared/queue/x.ts': '' },
      at: ['test/unit/shared/x.test.ts:1'],
    },
  ],
  good: [
    {
      name: 'a unit test beside its source',
      tree: { 'test/unit/shared/queue/x.test.ts': '', 'services/shared/queue/x.ts': '' },
    },
    { name: 'an integration test', tree: { 'test/integration/a-story.test.ts': '' } },
  ],
})
