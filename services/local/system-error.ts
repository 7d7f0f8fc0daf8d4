const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's quota of the disk is used up",
  EACCES: 'it belongs to another user or is protected',
  EPERM: 'it belongs to another user or is protected',
  EROFS: 'its file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
}

/** Why a file or folder could not be used, in words where that helps: `the disk is full, ENOSPC`. */
export const systemReason = (code: string | undefined): string => {
  const reason = reasons[code ?? '']
  return reason === undefined ? (code ?? 'unknown') : `${reason}, ${code}`
}

/** Whether the error of a system call says that the disk, or the user's share of it, is full. */
export const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')

/** What to do about a full disk. */
export const diskFullAdvice =
  "free some space, or choose a data folder on another disk with --data; 'df -h' shows what is left"
