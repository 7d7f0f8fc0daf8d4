import { type Command, UsageError } from './command/command.ts'
import type { CommandTable } from './command/run-command.ts'
import { bashScript } from './completion/bash.ts'
import { describeCommands } from './completion/describe-commands.ts'
import { fishScript } from './completion/fish.ts'
import { zshScript } from './completion/zsh.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** `completion`: prints a script that completes the commands of `table` and their flags. */
export const createCompletion = (table: CommandTable): Command => ({
  usage: 'completion SHELL',
  summary: `prints the completion script of a shell: ${Object.keys(scripts).join(', ')}`,
  json: '{ shell, script }',
  flags: {},
  run: async ({ print }, args) => {
    const [shell = ''] = args.operands
    const [, write] = Object.entries(scripts).find(([name]) => name === shell) ?? []
    if (!write) throw new UsageError(`SHELL ${shell}: must be one of ${Object.keys(scripts).join(', ')}`)
    const script = write(await describeCommands(table))
    print({ json: { shell, script }, text: script.trimEnd() })
  },
})
