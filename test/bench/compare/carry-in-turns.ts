import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { forkSender } from '#test/bench/fork-sender.ts'
import type { Measured } from './parts.ts'
import { onBoth, type Pair, turnOrder } from './pair.ts'

const program = 'test/bench/flow/side-process.ts'

/** Whether the tree of a commit can be measured: those before this benchmark cannot. */
export const canCarry = (tree: string): boolean => existsSync(join(tree, program))

/**
 * Measures what carries captures, with stand-ins of workers, of both trees: `turns` times ABBA on systems that are newly started,
 * `captures` in each turn.
 */
export const carryInTurns = async (
  trees: Pair<string>,
  { captures, turns }: { readonly captures: number; readonly turns: number },
): Promise<Pair<Measured>> => {
  using base = forkSender<{ captures: number }, number>(join(trees[0], program))
  using work = forkSender<{ captures: number }, number>(join(trees[1], program))
  const pair = [base, work] as const
  const spent: [number, number] = [0, 0]
  // The first one of each is the longest: it starts everything.
  for (const side of pair) await side.send({ captures })
  for (let turn = 0; turn < turns; turn += 1)
    for (const side of turnOrder) spent[side] += await pair[side].send({ captures })
  await onBoth(pair, (side) => side.send({ captures: 0 }))
  const name = 'flow: processor ms each, without workers'
  return [{ [name]: spent[0] / (2 * turns) }, { [name]: spent[1] / (2 * turns) }]
}
