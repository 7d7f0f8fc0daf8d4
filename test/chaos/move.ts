import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { presenceOf } from '#shared/db/move-account.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import type { World } from './world.ts'

const retryMs = 1000
/** Longest wait of the command for captures that were accepted. */
const wait = '60s'

/**
 * Moves an account to the second cell, as an operator would: the command is repeated until it succeeds, at most until `untilMs`. The
 * checker judges where the account is then.
 */
export const moveAway = async (world: World, { id, atMs, untilMs }: { id: string; atMs: number; untilMs: number }) => {
  const { second, dataDir, database } = world
  if (!second) return
  await delay(atMs)
  const args = ['account', 'move', id, '--data', dataDir, '--to', second.dataDir, '--wait', wait]
  while (performance.now() < untilMs) {
    const timeout = Math.ceil(untilMs - performance.now())
    await promisify(execFile)(commandLine, args, { timeout }).catch(() => {})
    const presence = await presenceOf(database, id).catch(() => 'here')
    if (presence === 'away' || presence === undefined) return
    await delay(retryMs)
  }
}
