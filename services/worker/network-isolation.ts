import { spawnSync } from 'node:child_process'
import { AppError } from '#shared/errors/app-error.ts'
import type { BrowserUser } from './browser-host/protocol.ts'
import type { Config } from './config.ts'

/** How browsers are kept off the network: where there is none, or by Chromium's flags alone. */
export type NetworkIsolation = 'namespace' | 'flags-only'

/** What decides how a command is kept apart from the machine. */
export type Isolation = {
  readonly network: NetworkIsolation
  readonly isRoot: boolean
  /** Folder that is found empty; '' hides none. By flags alone nothing is hidden. */
  readonly hiddenFolder: string
}

/** What the settings ask for; `user` is whom a worker that is root gives its browsers to. */
export const isolationOf = (
  config: Pick<Config, 'networkIsolation' | 'hiddenFolder'>,
  user: BrowserUser | undefined,
): Isolation => ({
  network: config.networkIsolation,
  isRoot: user !== undefined,
  hiddenFolder: config.hiddenFolder,
})

/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

const checkMs = 10_000

/** Where system programs are found; browsers do not see the worker's own environment. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** `/proc` shows none but its own processes, and the kernel ends them all with the first, which `unshare` takes along. */
const namespaces = ['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']

/** Everybody but root gets the capabilities for that from a user namespace. */
const userNamespace = ['--user', '--map-current-user', '--keep-caps']

/** What root keeps: to load anybody's private checkout, and to become the browsers' user, which gives up all of it. */
const keptByRoot = '+setuid,+setgid,+dac_override'

/**
 * First process of the namespaces: `$1` is the folder to hide, `$2` the capabilities to keep, the rest the command. The
 * last shell stays: somebody has to reap what the command's children leave behind.
 */
const enter = `
ip link set lo up || exit
[ -z "$1" ] || mount -t tmpfs -o ro,mode=555 none "$1" || exit
keep=$2
shift 2
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=$keep sh -c '"$@"; exit' sh "$@"`

/**
 * The command that runs `command` where there is no network but `lo`, no process but its own, and no way to more rights.
 * All its processes end when it ends, when its caller does, and by SIGKILL to its group.
 */
export const isolated = (command: Command, { network, isRoot, hiddenFolder }: Isolation): Command => {
  if (network === 'flags-only') return command
  const unshare = ['unshare', ...(isRoot ? [] : userNamespace), ...namespaces]
  const kept = isRoot ? `-all,${keptByRoot}` : '-all'
  return ['setpriv', '--pdeathsig=KILL', ...unshare, 'sh', '-c', enter, 'sh', hiddenFolder, kept, ...command]
}

/** Tries the isolation with a command that does nothing. Throws `CONFIGURATION` that names the setting where it cannot be had. */
export const checkIsolation = (by: Isolation): void => {
  const [program, ...args] = isolated(['true'], by)
  const { status, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: checkMs,
    env: { PATH: systemPath },
  })
  if (status === 0) return
  const reason = (error?.message ?? stderr).trim()
  const message = `SHUTTERFLEET_WORKER_NETWORK_ISOLATION = namespace, which cannot be had here (${reason}): allow user namespaces and, in a container, an unmasked /proc, or set flags-only and close the pod's network by policy`
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}
