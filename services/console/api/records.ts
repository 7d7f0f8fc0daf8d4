import type { Screenshot } from '#client/responses.js'
import { servedPath } from './base-path.ts'

/** What a person may do: the last two belong to no account. */
export type Role = 'owner' | 'member' | 'viewer' | 'operator' | 'operator_read_only'

/** A page of captures. */
export type CapturePage = {
  readonly data: readonly Screenshot[]
  readonly meta: { readonly total: number; readonly total_estimated?: true; readonly next_cursor: string | null }
}

/** A session of the account, or of operators, in the list of sessions. */
export type ListedSession = {
  readonly id: string
  readonly role: Role
  readonly email: string | null
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
  readonly address: string
  readonly user_agent: string
  readonly is_current: boolean
}

/** Whether the capture has not ended. */
export const isOpen = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  status === 'pending' || status === 'processing'

/** Path of the image on this origin: `image_url` names the public one, to which the cookie does not belong. */
export const imagePath = (id: string): string => servedPath(`/v1/screenshots/${encodeURIComponent(id)}/image`)
