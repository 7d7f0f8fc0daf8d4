import t from 'tap'
import { layers } from './checks/layers.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const bad = (name: string, path: string, text: string) => ({ name, tree: { [path]: text }, at: [`${path}:1`] })
const good = (name: string, path: string, text: string) => ({ name, tree: { [path]: text } })

await testCheck(t, {
  check: layers,
  real: () => layers(readSources()),
  bad: [
    bad('a service that imports another', 'services/gateway/app.ts', `import { x } from '#ledger/x.ts'`),
    bad('a type of another service', 'services/gateway/app.ts', `import type { X } from '#worker/x.ts'`),
    bad('an import type expression', 'services/gateway/app.ts', `type X = import('#worker/x.ts').X`),
    bad('a dynamic import', 'services/gateway/app.ts', `await import('#worker/x.ts')`),
    bad('a re-export', 'services/gateway/app.ts', `export { x } from '#worker/x.ts'`),
    bad('a test in a service', 'services/gateway/app.ts', `import { x } from '#test/helpers/x.ts'`),
    bad('a service in shared', 'services/shared/queue/x.ts', `import { x } from '#gateway/x.ts'`),
    bad('the client in another service', 'services/gateway/x.ts', `import type { X } from '#client/x.js'`),
    bad('the client in shared', 'services/shared/db/x.ts', `import type { X } from '#client/x.js'`),
    bad(
      'the controller in another folder of cli',
      'services/cli/plan/x.ts',
      `import { x } from '#controller/decide/x.ts'`,
    ),
    bad(
      'the operator in the simulation',
      'services/cli/simulation/x.ts',
      `import { x } from '#controller/operator/x.ts'`,
    ),
    bad('local that imports cli', 'services/local/x.ts', `import { x } from '#cli/x.ts'`),
    bad('floor 1 in floor 0', 'services/shared/policy/x.ts', `import { x } from '#shared/net/x.ts'`),
    bad('config in floor 0', 'services/shared/capture/x.ts', `import { x } from '#shared/config/x.ts'`),
    bad('a neighbour on floor 1', 'services/shared/queue/x.ts', `import { x } from '#shared/db/x.ts'`),
    bad('a folder on no floor', 'services/shared/misc/x.ts', `import { x } from './y.ts'`),
    bad('a main that is imported', 'services/worker/loop.ts', `import { x } from './main-job.ts'`),
    bad('a main that imports a main', 'services/worker/main-job.ts', `import { x } from './main.ts'`),
    bad('config in a use case', 'services/ledger/relay/x.ts', `import { x } from '#ledger/config.ts'`),
    bad('context in a loop', 'services/ledger/loop.ts', `import { x } from './context.ts'`),
  ],
  good: [
    good('floor 1 and floor 0 in a service', 'services/gateway/app.ts', `import { x } from '#shared/queue/x.ts'`),
    good('floor 0 in floor 0', 'services/shared/policy/x.ts', `import { x } from '#shared/errors/x.ts'`),
    good('floor 0 in floor 1', 'services/shared/db/x.ts', `import { x } from '#shared/capture/x.ts'`),
    good('telemetry in floor 1', 'services/shared/db/x.ts', `import { x } from '#shared/telemetry/x.ts'`),
    good('a deeper file of the same folder', 'services/shared/db/x.ts', `import { x } from './sql/y.ts'`),
    good('local in cli', 'services/cli/up.ts', `import { x } from '#local/x.ts'`),
    good('the law in the simulation', 'services/cli/simulation/x.ts', `import { x } from '#controller/decide/x.ts'`),
    good('the client in the console', 'services/console/x.ts', `import type { X } from '#client/x.js'`),
    good('the client in the command line', 'services/cli/x.ts', `import { X } from '#client/x.js'`),
    good('the client in the tools of MCP', 'services/shared/mcp/x.ts', `import { X } from '#client/x.js'`),
    good('config in main', 'services/ledger/main.ts', `import { x } from './config.ts'`),
    good('the type of the context', 'services/ledger/loop.ts', `import type { Context } from './context.ts'`),
    good('shared config', 'services/ledger/loop.ts', `import { x } from '#shared/config/config.ts'`),
    good(
      'a specifier in a comment or a string',
      'services/gateway/app.ts',
      `// import '#ledger/x.ts'\nf("import('#ledger/x.ts')")`,
    ),
    good('anything in a test', 'test/unit/gateway/app.test.ts', `import { x } from '#ledger/main.ts'`),
  ],
})
