import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Processes that end may still write. */
const maxRetries = 10

const calls: (() => void)[] = []
const end = () => {
  for (const call of calls.splice(0)) call()
}
process.on('exit', end)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    end()
    process.kill(process.pid, signal)
  })
}

/** Calls `call` when the program ends, also by a signal that can be caught; in the order of registration. */
export const onEnd = (call: () => void): void => void calls.push(call)

/** Creates a folder that is removed when the program ends. */
export const temporaryFolder = (prefix: string): string => {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries }))
  return folder
}
