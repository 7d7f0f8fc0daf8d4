import { appendFile, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { openDatabase } from '#shared/db/connection.ts'
import type { migrate } from '#shared/db/migrate.ts'

const root = resolve(import.meta.dirname, '../..')
const copied = ['package.json', 'services/shared'] as const

/**
 * Migrates the database at `url` as the next release does, which has these migrations more, by name, and another text of a function.
 * Returns the names of what was applied.
 */
export const migrateToNext = async (url: string, migrations: Readonly<Record<string, string>>): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'next-release-'))
  try {
    for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const files = join(folder, 'services/shared/db')
    await appendFile(join(files, 'sql/accept-capture.sql'), '-- Of the next release.\n')
    for (const [name, sql] of Object.entries(migrations)) await writeFile(join(files, 'migrations', `${name}.sql`), sql)
    const connection = (await import(join(files, 'connection.ts'))) as { openDatabase: typeof openDatabase }
    const migration = (await import(join(files, 'migrate.ts'))) as { migrate: typeof migrate }
    await using database = connection.openDatabase({ url, poolMax: 2 })
    return await migration.migrate(database)
  } finally {
    await rm(folder, { recursive: true })
  }
}
