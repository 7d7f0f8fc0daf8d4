import { dataPaths } from '#local/data-folder.ts'
import { lockHolder } from '#local/lock.ts'
import { isRunning } from '#local/process-start.ts'
import { waitUntil } from '#local/wait-for.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { type Command, dataFlag } from './command/command.ts'
import { findDataFolder } from './installation.ts'

/** Longer than the sum of all parts' stop timeouts. */
const downMs = 300_000

/** `down`: signals the process of `up` to drain and stop, and waits at most 5 minutes for its end. */
export const down: Command = {
  usage: 'down [--data DIR]',
  summary: 'drains and stops what `up` started; running captures finish',
  json: '{ stopped, pid }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const folder = dataPaths(findDataFolder(env, args))
    const holder = await lockHolder(folder)
    if (!holder)
      return print({ json: { stopped: false, pid: null }, text: `no installation is running in ${folder.path}` })
    // A second signal would end it immediately and abort running captures.
    if (!holder.stopping) process.kill(holder.pid, 'SIGTERM')
    if (await waitUntil(downMs, async () => !(await isRunning(holder)))) {
      return print({ json: { stopped: true, pid: holder.pid }, text: `process ${holder.pid} has stopped` })
    }
    throw new AppError('SERVICE_UNAVAILABLE', {
      publicMessage: `process ${holder.pid} has not stopped within ${downMs / 1000} s; see ${folder.logs}, and end it with 'kill -9 ${holder.pid}'`,
    })
  },
}
