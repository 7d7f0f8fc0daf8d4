import { execFile } from 'node:child_process'
import { appendFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const commandMs = 300_000
/** What a clone makes itself: neither archives of images nor a release nor what other processes write. */
const own = /^(?:images|release|gate-passed|lock|.*\.lock|work\..*|tests-.*)$/

/** Tag of the last commit in a clone. */
const lastCommit = 'last-commit'

/** The migration of the next release. */
export const nextMigration = '9000-of-the-next-release'

/** Programs of releases and of Helm, and Node. */
export const programs = [join(root, '.tools/release-tools'), join(root, '.tools/helm'), join(process.execPath, '..')]

type CallOptions = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly withinMs?: number }

/** Runs a program with `env` added; returns its standard output, rejects with an error that has `stderr`. */
export const call = async (
  program: string,
  args: readonly string[],
  { cwd = root, env = {}, withinMs = commandMs }: CallOptions = {},
): Promise<string> => {
  const path = [...programs, process.env['PATH'] ?? ''].join(delimiter)
  const options = {
    cwd,
    env: { ...process.env, PATH: path, ...env },
    timeout: withinMs,
    maxBuffer: 16_000_000,
  }
  // Tap adds options to Node's processes that only those of tests understand.
  return (await run('env', ['--unset=NODE_OPTIONS', program, ...args], options)).stdout
}

type Clone = {
  /** The last one by default. */
  readonly commit?: string
  /** Replaces compose.yaml. */
  readonly compose?: string
}

/** A clone of `commit` in `folder`, ready to be released: its changes are dated, and its tools are those of the project. */
export const cloneForRelease = async (
  folder: string,
  { commit = 'HEAD', compose }: Clone = {},
): Promise<{ readonly version: string; readonly commit: string }> => {
  await call('git', ['clone', '--quiet', '--no-tags', root, folder])
  await call('git', ['tag', lastCommit], { cwd: folder })
  await call('git', ['checkout', '--quiet', '--detach', commit], { cwd: folder })
  await mkdir(join(folder, '.tools'))
  for (const name of await readdir(join(root, '.tools'))) {
    if (!own.test(name)) await symlink(join(root, '.tools', name), join(folder, '.tools', name))
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  // Ignored only as folders.
  await appendFile(join(folder, '.git/info/exclude'), 'node_modules\n.tools\n')
  if (compose !== undefined) await writeFile(join(folder, 'compose.yaml'), compose)
  for (const [name, value] of Object.entries({ 'user.name': 'Test', 'user.email': 'test@shutterfleet.example' })) {
    await call('git', ['config', name, value], { cwd: folder })
  }
  const version = await versionOf(folder)
  await edit(folder, 'CHANGELOG.md', `## ${version}, unreleased`, `## ${version}, 2026-01-02`)
  return { version, commit: await commitAll(folder) }
}

/**
 * Makes a next release of the last commit in a clone, as docs/releases.md says: with a higher version, a migration, and an SQL function of
 * another text, so that all are made anew; the release before has to run on that too.
 */
export const prepareNextRelease = async (
  folder: string,
): Promise<{ readonly version: string; readonly commit: string }> => {
  await call('git', ['checkout', '--quiet', '--detach', lastCommit], { cwd: folder })
  const from = await versionOf(folder)
  const version = from.replace(/\d+$/, (patch) => String(Number(patch) + 1))
  await edit(folder, 'package.json', `"version": "${from}"`, `"version": "${version}"`)
  await edit(folder, 'CHANGELOG.md', `## ${from},`, `## ${version}, 2026-01-03\n\n- Another version.\n\n## ${from},`)
  await call('node', ['tools/docs/generate.ts'], { cwd: folder })
  const database = join(folder, 'services/shared/db')
  await writeFile(
    join(database, `migrations/${nextMigration}.sql`),
    `alter table capture add column of_the_next_release text not null default '';\n`,
  )
  await appendFile(join(database, 'sql/accept-capture.sql'), '\n-- Of the next release.\n')
  return { version, commit: await commitAll(folder) }
}

const versionOf = async (folder: string) =>
  (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }).version

const edit = async (folder: string, name: string, from: string, to: string) => {
  const path = join(folder, name)
  const text = await readFile(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${name} has no ${from}`)
  await writeFile(path, text.replace(from, to))
}

const commitAll = async (cwd: string) => {
  await call('git', ['add', '--all'], { cwd })
  await call('git', ['commit', '--quiet', '--message', 'Release'], { cwd })
  return (await call('git', ['rev-parse', 'HEAD'], { cwd })).trim()
}
