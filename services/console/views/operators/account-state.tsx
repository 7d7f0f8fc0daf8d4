import { StatusBadge } from '#console/components/status-badge.tsx'
import { texts } from '#console/text/texts.ts'
import type { OperatedAccount } from './records.ts'

const { states } = texts.operator.accounts

/** Whether an account is active. */
export const AccountState = ({ account }: { account: Pick<OperatedAccount, 'disabled_at' | 'erasing_at'> }) => {
  if (account.erasing_at !== null) return <StatusBadge tone="busy" label={states.erasing} />
  return account.disabled_at === null ? (
    <StatusBadge tone="good" label={states.active} />
  ) : (
    <StatusBadge tone="bad" label={states.disabled} />
  )
}
