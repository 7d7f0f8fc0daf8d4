import { copyFile, readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'

const logBytesMax = 16 * 1024 * 1024
const intervalMs = 60_000

/** Copies a log above `bytesMax` to `<path>.1` and truncates it, so that a process that appends to it continues. */
export const rotateLog = async (path: string, bytesMax = logBytesMax): Promise<void> => {
  const { size } = await stat(path)
  if (size <= bytesMax) return
  await copyFile(path, `${path}.1`)
  await truncate(path)
}

/** Rotates the logs of a folder once a minute until disposed; in between they may exceed the limit. */
export const rotateLogs = (folder: string): Disposable => {
  const rotate = async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.log'))
    await Promise.all(names.map((name) => rotateLog(join(folder, name))))
  }
  // A missing folder has no logs to rotate; the services that write to it report the error.
  const timer = setInterval(() => void rotate().catch(() => undefined), intervalMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
