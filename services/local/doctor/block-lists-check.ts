import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { programPath } from '#shared/process/program-path.ts'
import type { Check } from './check.ts'

const exec = promisify(execFile)
const runMs = 20_000
const dayMs = 86_400_000

type ListDescription = {
  readonly kind: string
  readonly name: string
  readonly version: string
  /** Modification time of its file, in milliseconds since 1970. */
  readonly modifiedMs: number
}

/**
 * Lists the block lists of workers with version and age of the file in days. `folder`: the operator's
 * lists, '' for none.
 */
export const blockListsCheck = ({ folder, now }: { folder: string; now: () => number }): Check => ({
  name: 'block lists',
  advice: 'fix or empty the folder, which is described in docs/configuration.md',
  run: async () => {
    const program = programPath('worker/block-lists/main-describe')
    const { stdout } = await exec(process.execPath, [program, folder], { timeout: runMs })
    const lists = JSON.parse(stdout) as readonly ListDescription[]
    const ageOf = ({ modifiedMs }: ListDescription) => `${Math.max(0, Math.floor((now() - modifiedMs) / dayMs))} d`
    return lists.map((list) => `${list.kind}/${list.name}@${list.version} (${ageOf(list)})`).join(', ')
  },
})
