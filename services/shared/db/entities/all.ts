import { AccountMeter } from './account-meter.ts'
import { Account } from './account.ts'
import { ApiKey } from './api-key.ts'
import { AuditEntry } from './audit-entry.ts'
import { LinkSecret } from './link-secret.ts'
import { Maintenance } from './maintenance.ts'
import { Member } from './member.ts'
import { Plan } from './plan.ts'
import { PoolPause } from './pool-pause.ts'
import { SignInLink } from './sign-in-link.ts'

/** The tables that are read and written through the mapper; a test compares them with the schema of the migrations. */
export const entities = [
  Account,
  AccountMeter,
  ApiKey,
  AuditEntry,
  LinkSecret,
  Maintenance,
  Member,
  Plan,
  PoolPause,
  SignInLink,
] as const
