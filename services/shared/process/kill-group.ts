import assert from 'node:assert/strict'

/** Kills every process of a group with SIGKILL; ignores a group that no longer exists. */
export const killGroup = (groupId: number): void => {
  assert(Number.isInteger(groupId) && groupId > 1, 'kill(-1) and kill(0) would end far more than a group')
  try {
    process.kill(-groupId, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
