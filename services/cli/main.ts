import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { runMain } from '#shared/process/run-main.ts'
import { takeHiddenFlags } from './command/hidden-flags.ts'
import type { Screen } from './command/command.ts'
import { runCommand } from './command/run-command.ts'
import { commands } from './commands.ts'

const args = [...process.argv.slice(2), ...takeHiddenFlags(process.env)]
// URLs to capture may contain passwords, and every user of the machine can read the arguments of a process.
process.title = 'shutterfleet'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` may close the pipe before all is written.
  if (error.code !== 'EPIPE') throw error
})

const screenOf = (stream: NodeJS.WriteStream): Screen | undefined =>
  stream.isTTY
    ? { write: (text) => stream.write(text), size: () => ({ columns: stream.columns, rows: stream.rows }) }
    : undefined

/** Asks on standard error, so that standard output holds only the result. The end of the input is an empty answer. */
const createAsk = (stop: AbortSignal) => async (question: string) => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  try {
    return await Promise.race([terminal.question(question, { signal: stop }), once(terminal, 'close').then(() => '')])
  } finally {
    terminal.close()
  }
}

await runMain('cli', async ({ env, stop }) => {
  process.exitCode = await runCommand(commands, args, {
    env,
    stop,
    root: resolve(import.meta.dirname, '../..'),
    write: (bytes) => process.stdout.write(bytes),
    note: (line) => process.stderr.write(`${line}\n`),
    terminal: screenOf(process.stdout),
    progress: screenOf(process.stderr),
    input: process.stdin,
    ask: process.stdin.isTTY && process.stderr.isTTY ? createAsk(stop) : undefined,
  })
})
