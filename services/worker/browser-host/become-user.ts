import type { BrowserUser } from './protocol.ts'

/**
 * Gives up root for the rights of `user`, for good. What the process still has to read of the checkout must have been
 * read: the user may not be able to.
 */
export const becomeUser = (user: BrowserUser): void => {
  process.setgroups?.([user.groupId])
  process.setgid?.(user.groupId)
  process.setuid?.(user.userId)
}
