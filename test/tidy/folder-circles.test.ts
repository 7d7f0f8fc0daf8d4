import t from 'tap'
import { folderCircles } from './checks/folder-circles.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const importing = (specifier: string) => `import { x } from '${specifier}'`

await testCheck(t, {
  check: folderCircles,
  real: () => folderCircles(readSources()),
  bad: [
    {
      name: 'a folder and its parent that import each other',
      tree: {
        'services/ledger/context.ts': importing('./reports/read.ts'),
        'services/ledger/reports/apply.ts': importing('#ledger/context.ts'),
      },
      at: ['services/ledger/context.ts:1', 'services/ledger/reports/apply.ts:1'],
    },
    {
      name: 'a circle of three folders by a type, beside imports that are on none',
      tree: {
        'services/gateway/app.ts': importing('./http/answer.ts'),
        'services/gateway/http/answer.ts': importing('#gateway/db/find.ts'),
        'services/gateway/db/find.ts': `import type { X } from '#gateway/live/stream.ts'`,
        'services/gateway/live/stream.ts': `${importing('#gateway/http/answer.ts')}\n${importing('#shared/db/x.ts')}`,
      },
      at: ['services/gateway/http/answer.ts:1', 'services/gateway/db/find.ts:1', 'services/gateway/live/stream.ts:1'],
    },
  ],
  good: [
    {
      name: 'files of one folder, packages and lower folders',
      tree: {
        'services/ledger/app.ts': `${importing('./loop.ts')}\n${importing('fastify')}\n${importing('./db/x.ts')}`,
        'services/ledger/loop.ts': importing('#shared/db/x.ts'),
        'services/ledger/db/x.ts': importing('#shared/db/x.ts'),
      },
    },
    {
      name: 'tests',
      tree: {
        'test/helpers/ledger.ts': importing('#test/helpers/db/x.ts'),
        'test/helpers/db/x.ts': importing('#test/helpers/ledger.ts'),
      },
    },
  ],
})
