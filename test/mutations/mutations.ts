import { autoscalerFaults } from './autoscaler.ts'
import { captures } from './captures.ts'
import { consoleFaults } from './console.ts'
import { operatorFaults } from './operator.ts'
import { paths } from './paths.ts'
import { reads } from './reads.ts'
import { results } from './results.ts'
import { targets } from './targets.ts'
import { webhooks } from './webhooks.ts'
import { worker } from './worker.ts'
import type { Mutation } from './mutation.ts'

/** All faults; those in gateway, ledger and webhooks each violate a point of docs/http-contract.md. */
export const mutations: readonly Mutation[] = [
  ...paths,
  ...captures,
  ...results,
  ...reads,
  ...targets,
  ...webhooks,
  ...consoleFaults,
  ...worker,
  ...operatorFaults,
  ...autoscalerFaults,
]
