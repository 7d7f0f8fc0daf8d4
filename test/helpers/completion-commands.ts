import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Command } from '#cli/command/command.ts'
import type { CommandTable } from '#cli/command/run-command.ts'
import { type DescribedCommand, describeCommands } from '#cli/completion/describe-commands.ts'
import { succeeds } from '#shared/process/succeeds.ts'

const command = (summary: string, flags: Command['flags'] = {}): (() => Promise<Command>) => {
  return async () => ({ usage: '', summary, json: '{}', flags, run: async () => {} })
}

const table: CommandTable = {
  run: command("does $(everything), it's `quick`", {
    folder: { type: 'string', value: 'DIR', help: 'where' },
    name: { type: 'string', value: 'N', short: 'n', help: 'how "it" is: called' },
    quick: { type: 'boolean', help: 'at once' },
  }),
  'thing list': command('lists things'),
  'thing link': command('links things', { name: { type: 'string', value: 'N', help: 'how it is called' } }),
}

/** Commands whose descriptions have characters that mean something to shells. */
export const describedCommands: DescribedCommand[] = await describeCommands(table)

const execute = promisify(execFile)

/** Runs a script in a shell and returns the lines that it prints, sorted; undefined if the shell is not installed. */
export const runInShell = async (
  shell: string,
  script: string,
  options: { readonly args?: readonly string[]; readonly cwd?: string } = {},
): Promise<readonly string[] | undefined> => {
  if (!(await succeeds(execute(shell, ['-c', 'true'])))) return undefined
  const { stdout } = await execute(shell, [...(options.args ?? []), '-c', script], { cwd: options.cwd })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()
}
