import { execFile } from 'node:child_process'
import { appendFile, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const copied = ['package.json', 'services/shared'] as const
const withinMs = 60_000

const program = `import { openDatabase } from '#shared/db/connection.ts'
import { migrate } from '#shared/db/migrate.ts'
await using database = openDatabase({ url: process.argv[2], poolMax: 2 })
console.log(JSON.stringify(await migrate(database)))
`

/**
 * Migrates the database at `url` as the next release does, which has these migrations more, by name, and another text of a function.
 * Returns the names of what was applied; rejects with what it wrote to stderr.
 */
export const migrateToNext = async (url: string, migrations: Readonly<Record<string, string>>): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'next-release-'))
  try {
    for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const files = join(folder, 'services/shared/db')
    await appendFile(join(files, 'sql/accept-capture.sql'), '-- Of the next release.\n')
    for (const [name, sql] of Object.entries(migrations)) await writeFile(join(files, 'migrations', `${name}.sql`), sql)
    const main = join(folder, 'services/main.ts')
    await writeFile(main, program)
    // Tap adds options to Node's processes that only those of tests understand.
    const { NODE_OPTIONS: _tap, ...env } = process.env
    const { stdout } = await run(process.execPath, [main, url], { env, timeout: withinMs })
    return JSON.parse(stdout) as string[]
  } finally {
    await rm(folder, { recursive: true })
  }
}
