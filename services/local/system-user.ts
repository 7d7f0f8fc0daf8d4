import { readFile } from 'node:fs/promises'

/** A user of this machine. */
export type SystemUser = { readonly uid: number; readonly gid: number }

/** Finds a user by name in /etc/passwd; undefined if there is none. */
export const findUser = async (name: string): Promise<SystemUser | undefined> => {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([userName]) => userName === name) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Arguments of setpriv(1) to run a program as the user. */
export const asUser = ({ uid, gid }: SystemUser): readonly string[] => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
]
