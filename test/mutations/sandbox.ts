import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '#test/tidy/source.ts'

const copied = [
  'bin',
  'clients',
  'crds',
  'docs',
  'k8s',
  'scripts',
  'services',
  'test',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]
/** Below `.tools`: a copy removes bundles of other sources, which tests of this checkout run from. */
const ownTools = ['bundles']
/** Timeout of one test file; exceeding it is a failure. */
const testMs = 120_000
const copies = 2

/** A copy of the code to inject faults into; removed when disposed. */
export type Sandbox = AsyncDisposable & { readonly folder: string }

/** Copies the code into a temporary folder. */
export const createSandbox = async (): Promise<Sandbox> => {
  const folder = await mkdtemp(join(tmpdir(), 'mutations-'))
  for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true })
  await mkdir(join(folder, '.tools'))
  const tools = (await readdir(join(root, '.tools'))).filter((name) => !ownTools.includes(name))
  const linked = ['node_modules', ...tools.map((name) => `.tools/${name}`)]
  for (const name of linked) await symlink(join(root, name), join(folder, name))
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

/** Processes `items` with two sandboxes in parallel. */
export const inSandboxes = async <T>(
  items: readonly T[],
  work: (sandbox: Sandbox, item: T) => Promise<void>,
): Promise<void> => {
  const left = [...items]
  const run = async () => {
    await using sandbox = await createSandbox()
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(sandbox, item)
  }
  await Promise.all(Array.from({ length: copies }, run))
}

/**
 * Runs a test file in a sandbox with plain node: tap's CLI loads modules from the real package location, which browser hosts
 * cannot see. `grep` selects tests by title. `output` is its TAP; its whole process group ends with it. */
export const runTestFile = async (
  { folder }: Sandbox,
  path: string,
  grep = '',
): Promise<{ passed: boolean; output: string }> => {
  const child = spawn(process.execPath, [path], {
    cwd: folder,
    env: { ...process.env, TAP_TIMEOUT: '0', ...(grep && { TAP_GREP: grep }) },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: AbortSignal.timeout(testMs),
    killSignal: 'SIGKILL',
  })
  const printed: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => printed.push(part))
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('exit', resolve)
  })
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process group ended with its leader.
  }
  return { passed: code === 0, output: Buffer.concat(printed).toString() }
}
