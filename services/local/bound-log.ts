import { copyFile, readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'

const logBytesMax = 16 * 1024 * 1024
const lookMs = 60_000

/** Keeps a log at its bound: what is in it goes to `<path>.1`, and whoever appends to it goes on in the emptied file. */
export const boundLog = async (path: string, bytesMax = logBytesMax): Promise<void> => {
  const { size } = await stat(path)
  if (size <= bytesMax) return
  await copyFile(path, `${path}.1`)
  await truncate(path)
}

/** Looks at the logs of a folder once a minute until disposed; between two looks they grow as they are written. */
export const boundLogs = (folder: string): Disposable => {
  const look = async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.log'))
    await Promise.all(names.map((name) => boundLog(join(folder, name))))
  }
  // A folder that is gone has no logs to bound; whoever writes to it will say so.
  const timer = setInterval(() => void look().catch(() => undefined), lookMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
