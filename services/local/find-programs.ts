import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, readdir, readFile, symlink } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#shared/errors/app-error.ts'

const versionMs = 10_000
const postgresLeast = 15
const natsLeast = [2, 12] as const

/** Programs of this machine that one-machine operation runs, as absolute paths. */
export type Programs = {
  /** Folder that holds `postgres` and `initdb`; undefined where PostgreSQL runs elsewhere. */
  readonly postgresBin: string | undefined
  /** Undefined where NATS runs elsewhere. */
  readonly natsServer: string | undefined
  readonly chromium: string
  /** Full Chromium; undefined where there is none. */
  readonly stealthChromium: string | undefined
}

/** Where programs are looked for. What the operator named (`''`: nothing) is never overruled by what is found. */
export type ProgramSearch = {
  readonly named: {
    readonly postgresBin: string
    readonly natsServer: string
    readonly chromium: string
    readonly stealthChromium: string
  }
  readonly needed: { readonly postgres: boolean; readonly nats: boolean; readonly certutil: boolean }
  /** The `PATH` of the environment. */
  readonly path: string
  /** Folder with one folder for each installed version of PostgreSQL. */
  readonly postgresVersions: string
  /** Folder of the PostgreSQL package whose binaries are used where the machine has none. */
  readonly postgresPackage: string
  /** Folder below which set-up puts `nats-server-<version>/nats-server`. */
  readonly tools: string
  readonly chromiumPaths: readonly string[]
  readonly stealthChromiumPath: string
}

const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const firstExecutable = async (paths: readonly string[]): Promise<string | undefined> => {
  for (const path of paths) if (await isExecutable(path)) return path
  return undefined
}

const inPath = (path: string, name: string) => path.split(delimiter).flatMap((each) => (each ? [join(each, name)] : []))

const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Numbers of the version that a program prints, or undefined where it does not run. */
const versionOf = async (program: string): Promise<readonly number[] | undefined> => {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: versionMs })
    return /(\d+)(?:\.(\d+))?/
      .exec(stdout)
      ?.slice(1)
      .map((part) => Number(part ?? 0))
  } catch {
    return undefined
  }
}

/** Which candidate runs and is new enough. `wanted` names both and the setting that points to one. */
const firstNewEnough = async (
  candidates: readonly string[],
  wanted: { program: (candidate: string) => string; isNewEnough: (version: readonly number[]) => boolean },
): Promise<string | undefined> => {
  for (const candidate of candidates) {
    if (!(await isExecutable(wanted.program(candidate)))) continue
    const version = await versionOf(wanted.program(candidate))
    if (version && wanted.isNewEnough(version)) return candidate
  }
  return undefined
}

/** The package's install script, which is not run, would only make these links. */
const linkLibraries = async (folder: string) => {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    await symlink(basename(source), join(folder, target)).catch(() => undefined)
  }
}

/** Folder of the newest PostgreSQL that is new enough. */
export const findPostgres = async (search: ProgramSearch): Promise<string | undefined> => {
  const { named, postgresPackage } = search
  const installed = (await entriesOf(search.postgresVersions)).toSorted((a, b) => Number(b) - Number(a))
  const wanted = {
    program: (bin: string) => join(bin, 'postgres'),
    isNewEnough: ([major = 0]: readonly number[]) => major >= postgresLeast,
  }
  if (named.postgresBin) return firstNewEnough([named.postgresBin], wanted)
  const onPath = inPath(search.path, 'postgres').map(dirname)
  const found = await firstNewEnough(
    [...onPath, ...installed.map((version) => join(search.postgresVersions, version, 'bin'))],
    wanted,
  )
  if (found) return found
  await linkLibraries(postgresPackage)
  return firstNewEnough([join(postgresPackage, 'native', 'bin')], wanted)
}

/** A nats-server that is new enough. */
export const findNats = async (search: ProgramSearch): Promise<string | undefined> => {
  const wanted = {
    program: (path: string) => path,
    isNewEnough: ([major = 0, minor = 0]: readonly number[]) =>
      major > natsLeast[0] || (major === natsLeast[0] && minor >= natsLeast[1]),
  }
  if (search.named.natsServer) return firstNewEnough([search.named.natsServer], wanted)
  const own = (await entriesOf(search.tools))
    .filter((name) => name.startsWith('nats-server-'))
    .map((name) => join(search.tools, name, 'nats-server'))
  return firstNewEnough([...inPath(search.path, 'nats-server'), ...own], wanted)
}

/** The Chromium that workers run; whether it runs is not tried. */
export const findChromium = ({ named, path, chromiumPaths }: ProgramSearch): Promise<string | undefined> =>
  firstExecutable(named.chromium ? [named.chromium] : [...chromiumPaths, ...inPath(path, 'chromium-headless-shell')])

/** The full Chromium of captures with `stealth`; whether it runs is not tried. */
export const findStealthChromium = ({ named, stealthChromiumPath }: ProgramSearch): Promise<string | undefined> =>
  firstExecutable([named.stealthChromium || stealthChromiumPath])

/** Has no setting: workers look for it in the `PATH` that they are given. */
const hasCertutil = async ({ path }: ProgramSearch): Promise<boolean> =>
  (await firstExecutable(inPath(path, 'certutil'))) !== undefined

const problem = (what: string, variable: string, given: string) =>
  given
    ? `SHUTTERFLEET_${variable} = ${given} has no usable ${what}`
    : `${what} is missing: run 'make setup', or set SHUTTERFLEET_${variable} to one`

/** Captures can do without full Chromium, unless the operator named one. */
const browserProblems = (
  { chromium, stealthChromium }: Readonly<Record<'chromium' | 'stealthChromium', string | undefined>>,
  { named }: Pick<ProgramSearch, 'named'>,
): string[] => [
  ...(chromium ? [] : [problem('Chromium (a headless-shell or Chromium binary)', 'CHROMIUM', named.chromium)]),
  ...(named.stealthChromium && !stealthChromium
    ? [problem('full Chromium (a binary)', 'STEALTH_CHROMIUM', named.stealthChromium)]
    : []),
]

/** Finds everything that is needed. Throws `CONFIGURATION` that names each missing program and the setting that points to one. */
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
            `PostgreSQL server ${postgresLeast} or newer (a folder with postgres and initdb)`,
            'POSTGRES_BIN',
            named.postgresBin,
          ),
        ]
      : [],
    needed.nats && !natsServer
      ? [problem(`nats-server ${natsLeast.join('.')} or newer`, 'NATS_SERVER', named.natsServer)]
      : [],
    needed.certutil && !(await hasCertutil(search))
      ? ["certutil (package libnss3-tools), by which pages trust SHUTTERFLEET_EXTRA_CA, is missing: run 'make setup'"]
      : [],
    browserProblems({ chromium, stealthChromium }, search),
  ].flat()
  if (!chromium || problems.length > 0) throw new AppError('CONFIGURATION', { publicMessage: problems.join('\n') })
  return { postgresBin, natsServer, chromium, stealthChromium }
}
