import { echoCompleted } from '#shared/capture/echo-options.ts'
import type { FoundBatch } from '#gateway/db/find-batch.ts'

const statusOf = ({ total, processing, completed, failed }: FoundBatch): string => {
  if (completed + failed >= total) return 'completed'
  return processing + completed + failed === 0 ? 'pending' : 'processing'
}

/** The contract's batch record. `completed` says that all have ended, failed ones too. */
export const toBatchRecord = (batch: FoundBatch): Record<string, unknown> => {
  const { id, total, processing, completed, failed, createdAt, members } = batch
  return {
    id,
    status: statusOf(batch),
    total,
    pending: total - processing - completed - failed,
    processing,
    completed,
    failed,
    created_at: createdAt,
    screenshots: members.map((member) => ({
      index: member.index,
      id: member.id,
      status: member.status,
      url: member.url,
      options: member.status === 'completed' ? echoCompleted(member.options) : member.options,
      created_at: member.createdAt,
    })),
  }
}
