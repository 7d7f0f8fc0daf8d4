import assert from 'node:assert/strict'

/** Kills a process with SIGKILL; ignores one that no longer exists. */
export const killProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Kills every process of a group with SIGKILL; ignores a group that no longer exists. */
export const killGroup = (groupId: number): void => {
  assert(Number.isInteger(groupId) && groupId > 1, 'kill(-1) and kill(0) would end far more than a group')
  killProcess(-groupId)
}
