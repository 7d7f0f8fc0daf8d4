import { chargeInvariants } from './checks/charges.ts'
import { collectFacts, type Invariant, type Limits, type Violation } from './checks/facts.ts'
import { credentialInvariants } from './checks/credentials.ts'
import { fileInvariants } from './checks/files.ts'
import { linkInvariants } from './checks/links.ts'
import { objectInvariants } from './checks/objects.ts'
import { endShownMs, isBehindOthers, latenessMs } from './checks/late.ts'
import { operationInvariants } from './checks/operations.ts'
import { responseInvariants } from './checks/responses.ts'
import { uploadInvariants } from './checks/uploads.ts'
import { webhookInvariants } from './checks/webhooks.ts'
import type { History } from './history.ts'
import type { Snapshot } from './snapshot.ts'

/** Invariants of captures, their charges, images and webhooks. */
export const captureInvariants: readonly Invariant[] = [
  ...responseInvariants,
  ...chargeInvariants,
  ...objectInvariants,
  ...webhookInvariants,
]

/** Invariants of what only some accounts use, and of what operators do. */
export const featureInvariants: readonly Invariant[] = [
  ...uploadInvariants,
  ...linkInvariants,
  ...fileInvariants,
  ...credentialInvariants,
  ...operationInvariants,
]

/** All invariants of a run. */
const invariants: readonly Invariant[] = [...captureInvariants, ...featureInvariants]

/** What a check found. */
export type Verdict = {
  readonly violations: readonly Violation[]
  /** Milliseconds from the last fault's end until the last capture that was accepted before it had ended; 0 without one. */
  readonly recoveryMs: number
  readonly captures: number
  /** Captures that ended late behind others, because the machine was busy. */
  readonly late: number
}

/** Decides every invariant from a history and the final snapshot. Pure; time grows with n log n. */
export const check = (history: History, snapshot: Snapshot, limits: Limits): Verdict => {
  const facts = collectFacts(history, snapshot, limits)
  const violations = invariants.flatMap(({ name, broken }) => broken(facts).map((what) => ({ invariant: name, what })))
  let lastMs = facts.calmMs
  for (const capture of facts.captures.values()) {
    const endMs = endShownMs(capture)
    if (capture.accepted && capture.accepted.endMs <= facts.calmMs && endMs < Infinity) lastMs = Math.max(lastMs, endMs)
  }
  return {
    violations,
    recoveryMs: Number.isFinite(lastMs) ? lastMs - facts.calmMs : 0,
    captures: facts.captures.size,
    late: [...facts.captures.values()].filter(
      (capture) => latenessMs(facts, capture) > 0 && isBehindOthers(facts, capture),
    ).length,
  }
}
