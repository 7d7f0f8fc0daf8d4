/** The result of one check. `advice` is set only if the check failed or warns. */
export type Finding = {
  readonly name: string
  readonly ok: boolean
  /** False if the check was skipped or not permitted; absent otherwise. */
  readonly checked?: false
  readonly detail: string
  readonly advice?: string
}

/** `run` returns a one-line description of what it checked, and throws if the check fails. */
export type Check = {
  readonly name: string
  readonly advice: string
  /** Name of an earlier check that this one depends on. */
  readonly needs?: string
  readonly run: () => Promise<string>
}

/** The first line of the message; for a failed program its output instead of its command line. */
const toReason = (thrown: unknown): string => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const [first = '', second = ''] = message.trim().split('\n')
  return (first.startsWith('Command failed:') && second) || first || 'it failed'
}

/** Runs a check; never throws. Skips it if one of `earlier` that it needs has failed. */
export const runCheck = async (check: Check, earlier: readonly Finding[] = []): Promise<Finding> => {
  const { name, advice, needs } = check
  if (earlier.some((finding) => finding.name === needs && !finding.ok)) {
    return { name, ok: false, checked: false, detail: `not checked, since ${needs} failed` }
  }
  try {
    return { name, ok: true, detail: await check.run() }
  } catch (thrown) {
    return { name, ok: false, detail: toReason(thrown), advice }
  }
}
