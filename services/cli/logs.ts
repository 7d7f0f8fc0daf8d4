import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dataPaths } from '#local/data-folder.ts'
import { type Command, dataFlag, flagCount, UsageError } from './command/command.ts'
import { findDataFolder } from './installation.ts'

const linesMax = 10_000
/** Lines contain no URLs beyond a target's host; the longest are stack traces. */
const bytesMax = 64 * 1024 * 1024

/** The log file of a service. Throws `UsageError` that lists the existing logs if there is none. */
const readLog = async (folder: string, service: string): Promise<string> => {
  const files = await readdir(folder).catch(() => [])
  const services = files.flatMap((file) => (file.endsWith('.log') ? [file.slice(0, -'.log'.length)] : []))
  if (services.includes(service)) return join(folder, `${service}.log`)
  const known = services.length === 0 ? `there are no logs in ${folder}` : `logs are: ${services.toSorted().join(', ')}`
  throw new UsageError(`SERVICE ${service}: has no log; ${known}`)
}

/** `logs`: prints the last lines of a service's log, and new ones with `--follow`. */
export const logs: Command = {
  usage: 'logs SERVICE [--lines N] [--follow] [--data DIR]',
  summary: 'prints the log of a service, such as gateway',
  json: '{ service, path, lines }',
  flags: {
    lines: { type: 'string', value: 'N', help: `how many of the last lines (default 100, at most ${linesMax})` },
    follow: { type: 'boolean', short: 'f', help: 'print new lines until Ctrl-C' },
    data: dataFlag,
  },
  run: async ({ env, stop, print }, args) => {
    const [service = ''] = args.operands
    const lines = String(flagCount(args, 'lines', { min: 1, max: linesMax, fallback: 100 }))
    if (args.flags['follow'] && args.flags['json']) throw new UsageError('--follow: not with --json, which prints once')
    const path = await readLog(dataPaths(findDataFolder(env, args)).logs, service)
    if (args.flags['follow']) {
      // -F follows by name: log rotation truncates the file.
      const tail = spawn('tail', ['-n', lines, '-F', path], { stdio: ['ignore', 'inherit', 'inherit'] })
      stop.addEventListener('abort', () => tail.kill(), { once: true })
      await once(tail, 'exit')
      return
    }
    const { stdout } = await promisify(execFile)('tail', ['-n', lines, path], { maxBuffer: bytesMax })
    const text = stdout.trimEnd()
    print({ json: { service, path, lines: text === '' ? [] : text.split('\n') }, text })
  },
}
