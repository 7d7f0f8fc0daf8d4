import { spawnSync } from 'node:child_process'
import { AppError } from '#shared/errors/app-error.ts'
import { fileTree, type Mount } from './file-tree.ts'
import { tasksMax } from './processes.ts'

/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

/** Chromium's own value for renderers: the kernel kills them and the browser before any service when memory runs out. */
const oomScore = 300

/** Raises the score and lowers the limits, for which no privilege is needed; a stricter limit stays. */
const limit = `
echo "$1" 2>/dev/null >/proc/self/oom_score_adj
prlimit --pid $$ --core=0 || exit
[ -z "$2" ] || prlimit --pid $$ --nproc="$2" 2>/dev/null
shift 2
exec "$@"`

/**
 * Returns the command that runs `command` without core dumps, with `oomScore`, and with at most `tasks` processes and threads
 * of its user in the namespace. `tasks` is undefined, for no limit, if processes outside of the isolation would count too.
 */
export const withProcessLimits = (command: Command, tasks: number | undefined): Command => [
  'sh',
  '-c',
  limit,
  'sh',
  String(oomScore),
  String(tasks ?? ''),
  ...command,
]

/** How browsers are confined: in namespaces, or by Chromium's flags alone. */
export type NetworkIsolation = 'namespace' | 'flags-only'

/** How a command is to be confined. */
export type Isolation = {
  readonly network: NetworkIsolation
  readonly isRoot: boolean
  /** Binaries of the browsers. */
  readonly browsers: readonly string[]
}

const checkMs = 10_000

/** `PATH` of browser hosts, which do not inherit the worker's environment. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The kernel kills all processes of the namespace with its first one, which dies with `bwrap`, which dies with its caller. */
const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent']

/** Capabilities that root keeps: to read a private checkout of any user, and to become the browser's user, which drops them. */
const rootCapabilities = ['setuid', 'setgid', 'dac_override']

/** Without root, a user namespace grants the capabilities to mount, which are dropped afterwards. */
const privilegeArgs = (isRoot: boolean): readonly string[] =>
  isRoot
    ? ['--cap-drop', 'ALL', ...[...rootCapabilities, 'setpcap'].flatMap((name) => ['--cap-add', `cap_${name}`])]
    : ['--unshare-user']

const dropCapabilities = [
  'setpriv',
  '--inh-caps=-all',
  '--ambient-caps=-all',
  `--bounding-set=-all,${rootCapabilities.map((name) => `+${name}`).join(',')}`,
]

/**
 * Returns the command that runs `command` in its own file tree, with `mounts`, without network except `lo`, without a view of
 * other processes, without a way to gain privileges, and with at most `tasksMax` tasks. All its processes end when it ends,
 * when its caller ends, and on SIGKILL to its group.
 */
export const isolated = (
  command: Command,
  { network, isRoot, browsers }: Isolation,
  mounts: readonly Mount[] = [],
): Command => {
  if (network === 'flags-only') return withProcessLimits(command, undefined)
  const tree = fileTree(browsers, mounts)
  return [
    'bwrap',
    ...namespaces,
    ...privilegeArgs(isRoot),
    ...tree,
    '--',
    ...(isRoot ? dropCapabilities : []),
    ...withProcessLimits(command, tasksMax),
  ]
}

/** What to do about a reason: AppArmor refuses with EACCES; seccomp, and the kernel's bounds of user namespaces, with EPERM. */
const remedy = (reason: string): string =>
  reason.endsWith(': Permission denied') && !reason.startsWith("bwrap: Can't")
    ? 'AppArmor denies mounts: load k8s/apparmor/shutterfleet-worker on the node and name it in workers.appArmorProfile (SHUTTERFLEET_POD_APPARMOR)'
    : 'allow user namespaces and, in a container, the seccomp profile k8s/seccomp/shutterfleet-worker.json and an unmasked /proc'

/** Runs `true` in the isolation. Throws `CONFIGURATION` with the name of the setting if that fails. */
export const checkIsolation = (isolation: Isolation, mounts: readonly Mount[] = [], path = systemPath): void => {
  const [program, ...args] = isolated(['true'], isolation, mounts)
  const { status, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: checkMs,
    env: { PATH: path },
  })
  if (status === 0) return
  const isMissing = error !== undefined && 'code' in error && error.code === 'ENOENT'
  const reason = isMissing ? `${program} is missing (package bubblewrap)` : (error?.message ?? stderr).trim()
  const message = `SHUTTERFLEET_WORKER_NETWORK_ISOLATION = namespace, not available on this machine (${reason}): ${remedy(reason)}, or set flags-only and close the pod's network by policy`
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}
