import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { librariesIn, startProgram, unpackedFolder, unpackPackages } from './packaged-programs.ts'

/** A proxy from a distribution package, on a free port of loopback, in a separate process. */
export type RealProxy = AsyncDisposable & {
  readonly port: number
  /** Its access log. */
  readonly log: () => Promise<string>
}

/** Credentials that a proxy accepts. */
type Login = { readonly user: string; readonly password: string }

const unpacked = unpackedFolder('proxies')

/** Why tests of squid and microsocks must be skipped, or `false`. */
export const withoutRealProxies = (): string | false =>
  !existsSync(unpacked) && !existsSync('/usr/bin/apt-get')
    ? 'no apt-get here that could download squid and microsocks'
    : false

/** A copy of the programs, downloaded once from the system's package source, executable for all users: squid drops root. */
const openFolder = async () => {
  await unpackPackages('proxies', ['squid', 'squid-common', 'microsocks'])
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'))
  await chmod(folder, 0o777)
  // Keeps links relative: absolute ones would lead into a checkout that other users may be unable to read.
  for (const part of ['usr/bin', 'usr/sbin', 'usr/lib'])
    await cp(join(unpacked, part), join(folder, part), { recursive: true, verbatimSymlinks: true })
  return { folder, libraries: await librariesIn(folder) }
}

const loginSettings = (folder: string) => `
    auth_param basic program ${join(folder, 'usr/lib/squid/basic_ncsa_auth')} ${join(folder, 'users')}
    auth_param basic children 1 startup=1
    acl known proxy_auth REQUIRED
    http_access allow known
    http_access deny all`

/** squid's default: tunnels only to port 443. */
const tunnelSettings = `
    acl tunnel method CONNECT
    acl tls port 443
    http_access deny tunnel !tls`

/**
 * Starts squid for one login, or without authentication; with tunnels to every port, or only to 443. `hosts` are names that
 * only this squid resolves, all to 127.0.0.1.
 */
export const startSquid = async (
  login: Login | undefined,
  hosts: readonly string[],
  tunnelsTo: 'all' | '443' = 'all',
): Promise<RealProxy> => {
  const [{ folder, libraries }, port] = await Promise.all([openFolder(), freePort()])
  const log = join(folder, 'access.log')
  const settings = `
    http_port 127.0.0.1:${port}
    visible_hostname squid
    pid_filename none
    cache deny all
    cache_log /dev/null
    access_log stdio:${log}
    mime_table /dev/null
    icon_directory ${folder}
    error_directory ${folder}
    hosts_file ${join(folder, 'hosts')}
    dns_nameservers 127.0.0.1
    dns_timeout 1 second
    pinger_enable off
    unlinkd_program ${join(folder, 'usr/lib/squid/unlinkd')}
    ${tunnelsTo === '443' ? tunnelSettings : ''}
    ${login ? loginSettings(folder) : 'http_access allow all'}`
  await writeFile(join(folder, 'squid.conf'), settings.replaceAll(/^ +/gm, ''))
  await writeFile(join(folder, 'hosts'), hosts.map((name) => `127.0.0.1 ${name}\n`).join(''))
  const { user, password } = login ?? { user: 'nobody', password: '' }
  await writeFile(join(folder, 'users'), `${user}:${createHash('md5').update(password).digest('hex')}\n`)
  const command = [join(folder, 'usr/sbin/squid'), '-N', '-d', '1', '-f', join(folder, 'squid.conf')]
  const program = await startProgram(command, { port, folder, libraries })
  return { ...program, port, log: () => readFile(log, 'utf8') }
}

/** Starts microsocks, for one login or without authentication. It resolves names as this machine does. */
export const startMicrosocks = async (login?: Login): Promise<RealProxy> => {
  const [{ folder, libraries }, port] = await Promise.all([openFolder(), freePort()])
  const loginArgs = login === undefined ? [] : ['-u', login.user, '-P', login.password]
  const command = [join(folder, 'usr/bin/microsocks'), '-i', '127.0.0.1', '-p', `${port}`, ...loginArgs]
  const program = await startProgram(command, { port, folder, libraries })
  return { ...program, port, log: async () => program.printed() }
}
