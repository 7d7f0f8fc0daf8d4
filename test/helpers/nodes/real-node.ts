import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { programs } from '#test/helpers/cluster-processes.ts'
import { type ClusterPlace, nodeName } from '#test/helpers/cluster-programs.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { NodeNetwork } from './network.ts'
import { cgroupOf, writeNodeFiles } from './node-files.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const runtime = join(root, '.tools/node-runtime')
const imageFolder = join(root, '.tools/images')
const startMs = 240_000
/** Images from scripts/build-images.sh: one set for all nodes, so that they are imported once. */
const images = {
  all: ['pause', 'server', 'worker', 'worker-stealth', 'postgres', 'nats'],
  /** Without those of a release, for nodes that pull these from its registry. */
  foreign: ['pause', 'postgres', 'nats'],
} as const
const commandMs = 10_000
const logTailChars = 2000

/** Folder of the imported archives, which is replaced when an image is rebuilt. */
const importedFolder = async (archives: readonly string[]): Promise<string> => {
  const states = archives.map(async (path) => `${path} ${(await stat(path)).mtimeMs}`)
  const key = [await readlink(runtime), ...(await Promise.all(states))].join('\n')
  return join(imageFolder, `imported-${hash('sha256', key).slice(0, 16)}`)
}

/** A running node. Dispose kills it with everything on it, as in a power failure. */
export type RealNode = AsyncDisposable & {
  readonly name: string
  readonly folder: string
  /** Runs a command of this machine in the node's network, for at most ten seconds. */
  readonly inNetwork: (command: readonly string[], input?: string) => Promise<string>
}

/** The images that a node has from its start. */
export type NodeImages = keyof typeof images

/** Starts node `index` with images of `.tools/images`; resolves once its programs run. */
export const startNode = async (
  place: ClusterPlace,
  network: NodeNetwork,
  { index, nodeCount, has }: { readonly index: number; readonly nodeCount: number; readonly has: NodeImages },
): Promise<RealNode> => {
  if (!existsSync(runtime)) throw new Error('node runtime not built: run scripts/build-node-runtime.sh')
  const name = nodeName(index)
  const folder = await writeNodeFiles(place, network, index)
  const others = Array.from({ length: nodeCount }, (_, each) => each + 1).filter((each) => each !== index)
  const archives = images[has].map((image) => join(imageFolder, `${image}.tar`))
  let stderr = ''
  // The kernel sends SIGTERM when the test ends.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', join(root, 'k8s/test-cluster/node.sh')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_NAME: name,
      NODE_FOLDER: folder,
      NODE_ADDRESS: `${network.nodeAddress(index)}/24`,
      NODE_PODS: network.pods(index),
      NODE_CGROUP: cgroupOf(folder, name),
      NODE_IMAGES: archives.join(' '),
      NODE_IMPORTED: await importedFolder(archives),
      NODE_PROGRAMS: `${runtime}:${programs}`,
      BRIDGE: network.bridge,
      VETH: network.veth(index),
      GATEWAY: network.address,
      ROUTES: others.map((each) => `${network.pods(each)}=${network.nodeAddress(each)}`).join(' '),
    },
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-logTailChars)
  })
  const end = () => terminate(child)
  try {
    const running = () => child.exitCode !== null || existsSync(join(folder, 'running'))
    await eventually(running, { withinMs: startMs, what: `${name} runs` })
    if (child.exitCode !== null)
      throw new Error(`${name} ended with ${child.exitCode}: ${stderr}${await logsOf(folder)}`)
  } catch (error) {
    await end()
    throw error
  }
  const inNetwork: RealNode['inNetwork'] = async (command, input = '') => {
    const pid = (await readFile(join(folder, 'pid'), 'utf8')).trim()
    const running = run('nsenter', [`--net=/proc/${pid}/ns/net`, '--', ...command], { timeout: commandMs })
    // A command may exit before it reads the input; only its exit code matters.
    running.child.stdin?.on('error', () => {}).end(input)
    return (await running).stdout
  }
  return { name, folder, inNetwork, [Symbol.asyncDispose]: end }
}

const terminate = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

const logsOf = async (folder: string): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'))
  const tails = names.map(
    async (name) => `\n${name}: ${(await readFile(join(folder, name), 'utf8')).slice(-logTailChars)}`,
  )
  return (await Promise.all(tails)).join('')
}
