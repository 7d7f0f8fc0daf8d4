import { AppError } from '#shared/errors/app-error.ts'
import { type CommandContext, type ParsedArgs, UsageError } from './command.ts'

/**
 * Returns if `--yes` was given, or if the person at the terminal types `name`. Throws `UsageError` where nobody can be asked,
 * `VALIDATION_ERROR` for any other answer.
 */
export const confirm = async (
  { ask }: Pick<CommandContext, 'ask'>,
  args: ParsedArgs,
  { effect, name }: { readonly effect: string; readonly name: string },
): Promise<void> => {
  if (args.flags['yes'] === true) return
  if (!ask) throw new UsageError(`--yes is missing: this ${effect}`)
  const answer = await ask(`This ${effect}. Type ${name} to go on: `)
  if (answer.trim() === name) return
  throw new AppError('VALIDATION_ERROR', { publicMessage: `${name} was not typed: nothing has changed` })
}
