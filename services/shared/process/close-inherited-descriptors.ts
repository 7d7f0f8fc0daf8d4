import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { getCACertificates } from 'node:tls'

const lastStandardFd = 2

/** `O_CLOEXEC`, which `node:fs` does not export. */
const closeOnExec = 0o2_000_000

const readFlags = (fd: number): number => {
  const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
  return Number.parseInt(flags, 8)
}

/**
 * Closes the file descriptors that this process inherited by accident and every child would inherit too, such as a folder
 * that the caller's shell has open. All that Node opens or uses is closed on exec, except the file in NODE_EXTRA_CA_CERTS, but
 * of inherited ones it marks only those below the first gap after 15.
 */
export const closeInheritedDescriptors = (): void => {
  // Waits for the thread of Node that reads that file: its descriptor would be taken for an inherited one, and Node would trust
  // none of its authorities, or abort.
  getCACertificates('default')
  for (const fd of readdirSync('/proc/self/fdinfo').map(Number)) {
    if (fd <= lastStandardFd) continue
    try {
      if ((readFlags(fd) & closeOnExec) === 0) closeSync(fd)
    } catch {
      // The descriptor of the folder itself, closed by now.
    }
  }
}
