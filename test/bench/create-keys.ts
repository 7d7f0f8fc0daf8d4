import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Creates accounts without limits but that of unfinished captures, each with a key, by the command line of the running `program`. */
export const createKeys = async (program: string, dataDir: string, accounts: number): Promise<string[]> => {
  const ask = async (...command: readonly string[]) =>
    JSON.parse((await run(program, [...command, '--data', dataDir, '--json'])).stdout) as { id: string; key: string }
  const keys: string[] = []
  while (keys.length < accounts) {
    const { id } = await ask('account', 'create', '--name', 'Bench', '--email', 'b@example.com', '--plan', 'unlimited')
    keys.push((await ask('key', 'create', '--account', id)).key)
  }
  return keys
}
