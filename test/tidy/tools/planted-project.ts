import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root } from '#test/tidy/source.ts'

const toolMs = 200_000
const outputBytes = 16 * 1024 * 1024
const configs = ['package.json', 'tsconfig.json', '.oxlintrc.json', '.oxfmtrc.json', 'knip.json']

/** A project in a temporary folder, deleted when disposed. */
export type PlantedProject = Disposable & { readonly folder: string }

/** Creates a project of `files` with the real configuration of all tools and the real dependencies. */
export const plantProject = (files: Readonly<Record<string, string>>): PlantedProject => {
  const folder = mkdtempSync(join(tmpdir(), 'shutterfleet-tidy-'))
  for (const config of configs) cpSync(join(root, config), join(folder, config))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

/** Runs an installed tool in `folder` and returns its exit code and output; throws if it does not end within 200 s. */
export const runTool = (
  folder: string,
  tool: string,
  args: readonly string[],
): { code: number | null; out: string } => {
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  const options = { cwd: folder, env, timeout: toolMs, maxBuffer: outputBytes, encoding: 'utf8' } as const
  // tap adds its loader to NODE_OPTIONS of every process that a test starts; the tools cannot be loaded through it.
  const command = ['-u', 'NODE_OPTIONS', join(root, 'node_modules/.bin', tool), ...args]
  const { status, stdout, stderr, error } = spawnSync('env', command, options)
  if (error) throw error
  return { code: status, out: stdout + stderr }
}
