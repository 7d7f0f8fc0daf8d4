import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Plugin } from 'esbuild'
import { serviceNames, services } from '#shared/config/services.ts'
import { bundleFolder, programPath, type Programs } from '#shared/process/program-path.ts'
import { succeeds } from '#shared/process/succeeds.ts'

const loadMs = 60_000

/** A bundle that is younger may be unfinished. */
const unfinishedMs = 60_000

/** Folder of the project, and the environment of its processes. */
type BundleSources = { readonly root: string; readonly env: Readonly<Record<string, string>> }

const servicePrograms = serviceNames.flatMap((name) => {
  const service = services[name]
  return 'cluster' in service ? [service.program, service.cluster.program] : [service.program]
})
/** The programs of one machine and of an image. */
const programNames: readonly string[] = [
  ...new Set(servicePrograms),
  'gateway/main-router',
  'worker/main',
  'worker/main-job',
  'worker/browser-host/main',
  'worker/block-lists/main-describe',
  'local/main-prepare',
  'cli/main',
]

/** A fingerprint of what is bundled, from the files' names, sizes and times of modification. */
const fingerprint = async (root: string): Promise<string> => {
  const folders = ['services', 'clients/typescript/dist']
  const names = await Promise.all(
    folders.map(async (folder) => {
      const found = await readdir(join(root, folder), { recursive: true })
      return found.filter((name) => /\.[jt]s$/.test(name)).map((name) => join(root, folder, name))
    }),
  )
  const paths = [join(root, 'package-lock.json'), ...names.flat().toSorted()]
  const files = await Promise.all(paths.map((path) => stat(path)))
  const hash = createHash('sha256').update(`${process.version} ${process.getuid?.()}\n`)
  for (const [index, { size, mtimeMs }] of files.entries()) hash.update(`${paths[index]} ${size} ${mtimeMs}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** Modules keep the folder of their source, from which they read statements, migrations and lists. */
const sourceFolders: Plugin = {
  name: 'source folders',
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const folder = JSON.stringify(dirname(path))
      const url = JSON.stringify(`file://${path}`)
      return {
        contents: text.replaceAll('import.meta.dirname', folder).replaceAll('import.meta.url', url),
        loader: 'ts',
      }
    })
  },
}

/** Packages in CommonJS call `require` for modules of Node. esbuild does not know these names, so no package may have the first. */
const requireBanner = `import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);`

/**
 * Bundles all programs of the folder `root` into files below `outputFolder`, and the chunks that they share into `services/shared`. One at
 * a time: its end stops esbuild's service, which otherwise stays with up to a gigabyte of memory.
 */
export const bundle = async (root: string, outputFolder: string): Promise<void> => {
  const { build, stop } = await import('esbuild')
  await build({
    entryPoints: programNames.map((name) => programPath(name, { root, extension: '.ts' })),
    outbase: root,
    outdir: outputFolder,
    chunkNames: 'services/shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // MikroORM finds entities by the names of their classes.
    keepNames: true,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    external: ['esbuild', 'sharp', 'pg-native'],
    banner: { js: requireBanner },
    plugins: [sourceFolders],
    logLevel: 'silent',
  }).finally(stop)
}

/** The modules that a process may load: programs, of a bundle also the chunks that they load late. */
const listModules = async ({ root, extension }: Programs): Promise<readonly string[]> => {
  if (extension === '.ts') return programNames.map((name) => programPath(name, { root, extension }))
  const files = await readdir(join(root, 'services'), { recursive: true })
  return files.filter((name) => name.endsWith(extension)).map((name) => join(root, 'services', name))
}

/** Loads all programs without running them, to fill Node's compile cache. Throws if they do not load. */
export const loadPrograms = async (programs: Programs, env: Readonly<Record<string, string>>): Promise<void> => {
  const urls = await listModules(programs)
  // All modules are compiled before the first one is evaluated, which exits the process.
  const script = ['data:text/javascript,process.exit()', ...urls].map((url) => `import ${JSON.stringify(url)}`)
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script.join('\n')], {
    env,
    timeout: loadMs,
  })
}

/** Removes bundles of other sources that no process runs from. */
const removeUnused = async (bundles: string, used: string): Promise<void> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  for (const name of await readdir(bundles)) {
    const path = join(bundles, name)
    const isOld = path !== used && Date.now() - (await stat(path)).mtimeMs > unfinishedMs
    if (isOld && !commands.some((command) => command.includes(path))) await rm(path, { recursive: true, force: true })
  }
}

/**
 * Bundles the services, one file and the chunks that it shares for each, if their sources have changed; each then starts in less
 * than half of the time and without the 23 MiB of the type stripper. Where they cannot be bundled, as without esbuild, fills the
 * compile cache with the sources, and returns those. A process that runs from a bundle, as in an image, returns its own.
 */
export const provideBundle = async ({ root, env }: BundleSources): Promise<Programs> => {
  if (bundleFolder !== undefined) return { root: bundleFolder, extension: '.js' }
  const bundles = join(root, '.tools', 'bundles')
  const source: Programs = { root, extension: '.ts' }
  if (!(await succeeds(mkdir(bundles, { recursive: true })))) return source
  const bundled: Programs = { root: join(bundles, await fingerprint(root)), extension: '.js' }
  if (await succeeds(access(bundled.root))) return bundled
  const unfinished = `${bundled.root}.${process.pid}`
  const isBuilt = await succeeds(bundle(root, unfinished))
  // Fails where another process was faster.
  if (isBuilt) await succeeds(rename(unfinished, bundled.root))
  const programs: Programs = isBuilt ? bundled : source
  await succeeds(loadPrograms(programs, env))
  await succeeds(removeUnused(bundles, bundled.root))
  return programs
}
