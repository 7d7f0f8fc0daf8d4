// Takes each guard away in a copy of the code and prints the number of runs until chaos fails; at most 20.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findEdit } from '#test/mutations/find-edit.ts'
import { mutatedFile } from '#test/mutations/mutation.ts'
import { createSandbox } from '#test/mutations/sandbox.ts'
import { applyEdit } from '#test/mutations/seeded/change.ts'
import { type Guard, guards } from './guards.ts'

const runsMax = 20
/** Aborts on a signal, which the running chaos gets too; the copy of the code is removed then. */
const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort())

/** Runs chaos in a folder until it fails; returns the number of runs, or undefined if none failed. */
const runsUntilFailure = async (folder: string, { faults }: Guard): Promise<number | undefined> => {
  const faultArgs = faults.flatMap((name) => ['--fault', name])
  const child = spawn(
    join(folder, 'scripts/run-chaos.sh'),
    ['--until-failure', '--runs', String(runsMax), ...faultArgs],
    {
      cwd: folder,
      stdio: ['inherit', 'pipe', 'inherit'],
    },
  )
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let runs = 0
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`  ${line}`)
    if (line.startsWith('seed ')) runs += 1
  }
  const code = await exited
  interrupted.signal.throwIfAborted()
  return code === 0 ? undefined : runs
}

const tryGuard = async (guard: Guard): Promise<boolean> => {
  await using sandbox = await createSandbox()
  const path = join(sandbox.folder, mutatedFile(guard))
  const text = await readFile(path, 'utf8')
  await writeFile(path, applyEdit(text, findEdit({ path: mutatedFile(guard), text }, guard)))
  const runs = await runsUntilFailure(sandbox.folder, guard)
  console.log(
    runs === undefined
      ? `MISSED  ${guard.name}: ${runsMax} runs without a violation`
      : `caught  ${guard.name}: run ${runs}`,
  )
  return runs !== undefined
}

const filter = process.argv[2] ?? ''
let missed = 0
for (const guard of guards) if (guard.name.includes(filter) && !(await tryGuard(guard))) missed += 1
process.exitCode = missed === 0 ? 0 : 1
