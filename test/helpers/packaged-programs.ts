import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from './eventually.ts'
import { moveUnlessPresent } from './move-unless-present.ts'

const run = promisify(execFile)

/** Folder of the packages unpacked under a name. */
export const unpackedFolder = (name: string): string => resolve(import.meta.dirname, '../../.tools', name, 'root')

/** Packages of shared libraries that the programs need and this machine lacks. */
const missingLibraries = async (programs: readonly string[]): Promise<readonly string[]> => {
  const { stdout } = await run('apt-get', ['install', '--simulate', '--no-install-recommends', ...programs])
  return [...stdout.matchAll(/^Inst (lib\S+) \(/gm)].map(([, name = '']) => name).filter((name) => !/perl/.test(name))
}

/**
 * Unpacks Debian packages into `unpackedFolder(name)` unless done before, downloaded from the system's package source and
 * not installed. Throws if the download fails.
 */
export const unpackPackages = async (name: string, programs: readonly string[]): Promise<void> => {
  const unpacked = unpackedFolder(name)
  if (existsSync(unpacked)) return
  const cache = resolve(unpacked, '..')
  await mkdir(cache, { recursive: true })
  const partial = await mkdtemp(join(cache, 'partial-'))
  const names = [...programs, ...(await missingLibraries(programs))]
  await run('apt-get', ['download', '-q', ...names], { cwd: partial, timeout: 300_000 })
  for (const archive of await readdir(partial)) {
    await run('dpkg', ['-x', join(partial, archive), join(partial, 'root')])
  }
  await moveUnlessPresent(join(partial, 'root'), unpacked)
  await rm(partial, { recursive: true })
}

/** The folder of shared libraries below `folder`. */
export const librariesIn = async (folder: string): Promise<string> => {
  const architecture = (await readdir(join(folder, 'usr/lib'))).find((name) => name.endsWith('-linux-gnu')) ?? ''
  return join(folder, 'usr/lib', architecture)
}

const answers = async (port: number): Promise<boolean> => {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}

const end = async (child: ChildProcess, folder: string) => {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  await rm(folder, { recursive: true })
}

/** Starts a program that ends with this process; as an unprivileged user if this process runs as root. */
export const startProgram = async (
  command: readonly string[],
  { port, folder, libraries }: { port: number; folder: string; libraries: string },
) => {
  const user = process.getuid?.() === 0 ? ['--reuid=proxy', '--regid=proxy', '--clear-groups'] : []
  const child = spawn('setpriv', [...user, '--pdeathsig', 'KILL', ...command], {
    cwd: folder,
    env: { LD_LIBRARY_PATH: libraries },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += String(chunk)))
  await eventually(() => child.exitCode !== null || answers(port), { what: `${command[0]} answers` })
  if (child.exitCode !== null) {
    await end(child, folder)
    throw new Error(`${command[0]} did not start: ${printed}`)
  }
  return { printed: () => printed, [Symbol.asyncDispose]: () => end(child, folder) }
}
