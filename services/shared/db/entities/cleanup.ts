import { defineEntity, p } from '@mikro-orm/postgresql'

const time = () => p.datetime().columnType('timestamptz')

/** How far rows have been looked at that may be over: captures by their end, batches by their acceptance. */
export const CleanupCursor = defineEntity({
  name: 'CleanupCursor',
  tableName: 'cleanup_cursor',
  checks: [{ name: 'cleanup_cursor_kind_check', expression: `kind = any (array['capture'::text, 'batch'::text])` }],
  properties: { kind: p.text().primary(), doneUntil: time() },
})

/** A row that could not be removed when it was looked at, and when it is looked at again. */
export const LateCleanup = defineEntity({
  name: 'LateCleanup',
  tableName: 'late_cleanup',
  indexes: [{ name: 'late_cleanup_due', expression: 'create index late_cleanup_due on late_cleanup (kind, due_at)' }],
  properties: { kind: p.text().primary(), id: p.uuid().primary(), dueAt: time() },
})

/** One row: the last key of the store that was looked at, when this pass began, and until when the next page is claimed. */
export const OrphanSweep = defineEntity({
  name: 'OrphanSweep',
  tableName: 'orphan_sweep',
  checks: [{ name: 'orphan_sweep_id_check', expression: 'id = 1' }],
  properties: {
    id: p.integer().default(1).primary().autoincrement(false),
    afterKey: p.text(),
    beganAt: time(),
    claimedUntil: time().nullable(),
  },
})
