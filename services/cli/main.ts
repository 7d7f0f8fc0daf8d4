import { resolve } from 'node:path'
import { runMain } from '#shared/process/run-main.ts'
import { takeHiddenFlags } from './command/hidden-flags.ts'
import { type CommandTable, runCommand } from './command/run-command.ts'

const commands: CommandTable = {
  up: async () => (await import('./up.ts')).up,
  down: async () => (await import('./down.ts')).down,
  status: async () => (await import('./status.ts')).status,
  top: async () => (await import('./top.ts')).top,
  logs: async () => (await import('./logs.ts')).logs,
  capture: async () => (await import('./capture.ts')).capture,
  link: async () => (await import('./link.ts')).link,
  'account create': async () => (await import('./accounts.ts')).accountCreate,
  'account list': async () => (await import('./accounts.ts')).accountList,
  'account set-plan': async () => (await import('./accounts.ts')).accountSetPlan,
  'key create': async () => (await import('./keys.ts')).keyCreate,
  'key list': async () => (await import('./keys.ts')).keyList,
  'key revoke': async () => (await import('./keys.ts')).keyRevoke,
  console: async () => (await import('./console.ts')).consoleLink,
  'objects copy': async () => (await import('./objects-copy.ts')).objectsCopy,
  doctor: async () => (await import('./doctor.ts')).doctor,
  'cluster keys': async () => (await import('./cluster/cluster-keys.ts')).clusterKeys,
  'cluster account': async () => (await import('./cluster/cluster-account.ts')).clusterAccount,
  'cluster crd': async () => (await import('./cluster/cluster-crd.ts')).clusterCrd,
  migrate: async () => (await import('./migrate.ts')).migrateDatabase,
}

const args = [...process.argv.slice(2), ...takeHiddenFlags(process.env)]
// URLs to capture may contain passwords, and every user of the machine can read the arguments of a process.
process.title = 'shutterfleet'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` may close the pipe before all is written.
  if (error.code !== 'EPIPE') throw error
})

await runMain('cli', async ({ env, stop }) => {
  process.exitCode = await runCommand(commands, args, {
    env,
    stop,
    root: resolve(import.meta.dirname, '../..'),
    write: (bytes) => process.stdout.write(bytes),
    note: (line) => process.stderr.write(`${line}\n`),
    terminal: process.stdout.isTTY
      ? {
          write: (text) => process.stdout.write(text),
          size: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
        }
      : undefined,
  })
})
