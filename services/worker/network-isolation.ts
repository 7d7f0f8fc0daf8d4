import { spawnSync } from 'node:child_process'
import { AppError } from '#shared/errors/app-error.ts'

/** How browsers are kept off the network. */
export type NetworkIsolation = 'namespace' | 'flags-only'

/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

const checkMs = 10_000

/** Where system programs are found; browsers do not see the worker's own environment. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The command that runs `command` where there is no network but `lo`. Root needs nothing for that. Everybody else gets
 * the capabilities for it from a user namespace, and gives them all up before the command begins.
 */
export const isolated = (command: Command, by: { isolation: NetworkIsolation; isRoot: boolean }): Command => {
  if (by.isolation === 'flags-only') return command
  const up = 'ip link set lo up && exec'
  if (by.isRoot) return ['unshare', '--net', 'sh', '-c', `${up} "$@"`, 'sh', ...command]
  const drop = 'setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all --no-new-privs'
  const namespaces = ['--user', '--map-current-user', '--net', '--keep-caps']
  return ['unshare', ...namespaces, 'sh', '-c', `${up} ${drop} "$@"`, 'sh', ...command]
}

/** Tries the isolation with a command that does nothing. Throws `CONFIGURATION` that names the setting where it cannot be had. */
export const checkIsolation = (by: { isolation: NetworkIsolation; isRoot: boolean }): void => {
  const [program, ...args] = isolated(['true'], by)
  const { status, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: checkMs,
    env: { PATH: systemPath },
  })
  if (status === 0) return
  const reason = (error?.message ?? stderr).trim()
  const message = `SHUTTERFLEET_WORKER_NETWORK_ISOLATION = namespace, a network namespace cannot be made here (${reason}): allow user namespaces, or set flags-only and close the pod's network by policy`
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}
