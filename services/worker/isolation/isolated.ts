import { spawnSync } from 'node:child_process'
import { AppError } from '#shared/errors/app-error.ts'
import { fileTree, type Mount } from './file-tree.ts'
import { tasksMax } from './processes.ts'

/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

/** As Chromium sets it for renderers: they, and the browser with them, go before any service when memory ends. */
const oomScore = 300

/** Raises and lowers only, which everybody may; a stricter bound than ours stays. */
const limit = `
echo "$1" 2>/dev/null >/proc/self/oom_score_adj
prlimit --pid $$ --core=0 || exit
[ -z "$2" ] || prlimit --pid $$ --nproc="$2" 2>/dev/null
shift 2
exec "$@"`

/**
 * The command that runs `command` without core dumps, as one of the first to end when memory does, and with at most `tasks`
 * processes and threads of its user in one namespace; undefined where they would be counted with those of others.
 */
export const limited = (command: Command, tasks: number | undefined): Command => [
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

/** What decides how a command is confined. */
export type Isolation = {
  readonly network: NetworkIsolation
  readonly isRoot: boolean
  /** Binaries of the browsers. */
  readonly browsers: readonly string[]
}

const checkMs = 10_000

/** Where system programs are found; browsers do not see the worker's own environment. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The kernel ends everything inside with the first process, and that one with `bwrap`, which ends with its caller. */
const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent']

/** What root keeps: to load anybody's private checkout, and to become the browser's user, which gives up all of it. */
const keptByRoot = ['setuid', 'setgid', 'dac_override']

/** Everybody but root gets what mounting takes from a user namespace, and keeps nothing of it. */
const rightsOf = (isRoot: boolean): readonly string[] =>
  isRoot
    ? ['--cap-drop', 'ALL', ...[...keptByRoot, 'setpcap'].flatMap((name) => ['--cap-add', `cap_${name}`])]
    : ['--unshare-user']

const dropRest = [
  'setpriv',
  '--inh-caps=-all',
  '--ambient-caps=-all',
  `--bounding-set=-all,${keptByRoot.map((name) => `+${name}`).join(',')}`,
]

/**
 * The command that runs `command` in a file tree of its own, with `mounts` in it, where there is no network but `lo`, no
 * process but its own, no way to more rights, and a bound of processes. All its processes end when it ends, when its caller does, and by
 * SIGKILL to its group.
 */
export const isolated = (
  command: Command,
  { network, isRoot, browsers }: Isolation,
  mounts: readonly Mount[] = [],
): Command => {
  if (network === 'flags-only') return limited(command, undefined)
  const tree = fileTree(browsers, mounts)
  return [
    'bwrap',
    ...namespaces,
    ...rightsOf(isRoot),
    ...tree,
    '--',
    ...(isRoot ? dropRest : []),
    ...limited(command, tasksMax),
  ]
}

/** Tries the isolation with a command that does nothing. Throws `CONFIGURATION` that names the setting where it cannot be had. */
export const checkIsolation = (by: Isolation, mounts: readonly Mount[] = [], path = systemPath): void => {
  const [program, ...args] = isolated(['true'], by, mounts)
  const { status, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: checkMs,
    env: { PATH: path },
  })
  if (status === 0) return
  const isMissing = error !== undefined && 'code' in error && error.code === 'ENOENT'
  const reason = isMissing ? `${program} is missing (package bubblewrap)` : (error?.message ?? stderr).trim()
  const message = `SHUTTERFLEET_WORKER_NETWORK_ISOLATION = namespace, which cannot be had here (${reason}): allow user namespaces and, in a container, the seccomp profile k8s/seccomp/shutterfleet-worker.json and an unmasked /proc, or set flags-only and close the pod's network by policy`
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}
