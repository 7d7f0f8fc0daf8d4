import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/**
 * The children that a process started from its main thread, as the kernel counts them. Browsers lead process groups of
 * their own, so each is a group's id too. Empty where the process is gone.
 */
export const childrenOf = (pid: number): readonly number[] => {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').flatMap((child) => (/^\d+$/.test(child) ? [Number(child)] : []))
  } catch {
    return []
  }
}

/** Ends every process of a group at once; a group that is gone already counts as ended. */
export const killGroup = (groupId: number): void => {
  assert(Number.isInteger(groupId) && groupId > 1, 'kill(-1) and kill(0) would end far more than a group')
  try {
    process.kill(-groupId, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
