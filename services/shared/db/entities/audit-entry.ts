import { defineEntity, p } from '@mikro-orm/postgresql'

/** One recorded change to an account, a key, or the service. It outlives its target. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  indexes: [{ name: 'audit_entry_at', expression: 'create index audit_entry_at on audit_entry (at desc, id desc)' }],
  properties: {
    id: p.uuid().primary(),
    at: p.datetime().columnType('timestamptz'),
    actor: p.text(),
    action: p.text(),
    /** Id of what was changed. */
    target: p.text().index('audit_entry_target'),
    /** Details of the change; never a secret. */
    detail: p.json().columnType('json'),
  },
})
