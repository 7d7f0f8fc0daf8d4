import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { commandLine } from './command-line.ts'
import type { System } from './system.ts'

/** Creates another account without limits in a system; returns its API key. */
export const createAccountKey = async ({ dataDir }: System): Promise<string> => {
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(commandLine, [...args, '--data', dataDir, '--json'])
    return JSON.parse(stdout) as Record<string, string>
  }
  const account = ['--name', 'noisy', '--email', 'n@example.com', '--plan', 'unlimited']
  const { id = '' } = await run('account', 'create', ...account)
  const { key = '' } = await run('key', 'create', '--account', id, '--name', 'noisy')
  return key
}
