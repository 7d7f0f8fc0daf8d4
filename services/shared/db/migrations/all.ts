import { CreateTables } from './0001-create-tables.ts'
import { ServeBatchesAndReplays } from './0002-serve-batches-and-replays.ts'
import { ListCaptures } from './0003-list-captures.ts'
import { TakeAwayWhatIsOver } from './0004-take-away-what-is-over.ts'
import { TellReceivers } from './0005-tell-receivers.ts'
import { Administer } from './0006-administer.ts'
import { KeepAnswers } from './0007-keep-answers.ts'
import { FreeKeys } from './0008-free-keys.ts'
import { FindOpenLanes } from './0009-find-open-lanes.ts'
import { KeepUpWithWhatIsOver } from './0010-keep-up-with-what-is-over.ts'
import { BoundWhatGrows } from './0011-bound-what-grows.ts'
import { QueueByReceiver } from './0012-queue-by-receiver.ts'
import { RecognisePepper } from './0013-recognise-the-pepper.ts'
import { KeepPageMetadata } from './0014-keep-page-metadata.ts'
import { WakeSenders } from './0015-wake-senders.ts'
import { KeepTraceContext } from './0016-keep-trace-context.ts'

/** Every migration in order, under the name by which a database remembers it. */
export const migrations = [
  { name: '0001-create-tables', class: CreateTables },
  { name: '0002-serve-batches-and-replays', class: ServeBatchesAndReplays },
  { name: '0003-list-captures', class: ListCaptures },
  { name: '0004-take-away-what-is-over', class: TakeAwayWhatIsOver },
  { name: '0005-tell-receivers', class: TellReceivers },
  { name: '0006-administer', class: Administer },
  { name: '0007-keep-answers', class: KeepAnswers },
  { name: '0008-free-keys', class: FreeKeys },
  { name: '0009-find-open-lanes', class: FindOpenLanes },
  { name: '0010-keep-up-with-what-is-over', class: KeepUpWithWhatIsOver },
  { name: '0011-bound-what-grows', class: BoundWhatGrows },
  { name: '0012-queue-by-receiver', class: QueueByReceiver },
  { name: '0013-recognise-the-pepper', class: RecognisePepper },
  { name: '0014-keep-page-metadata', class: KeepPageMetadata },
  { name: '0015-wake-senders', class: WakeSenders },
  { name: '0016-keep-trace-context', class: KeepTraceContext },
] as const
