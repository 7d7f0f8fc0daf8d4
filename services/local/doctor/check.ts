/** The result of one check. `advice` is what to do; set only where the check failed. */
export type Finding = {
  readonly name: string
  readonly ok: boolean
  /** False where a check that it needs has failed; absent otherwise. */
  readonly checked?: false
  readonly detail: string
  readonly advice?: string
}

/** One thing to look at: `look` answers what it is like, and throws where the check fails. */
export type Check = {
  readonly name: string
  readonly advice: string
  /** Name of an earlier check that this one depends on. */
  readonly needs?: string
  readonly look: () => Promise<string>
}

/** One line; of a program that failed, what it said and not how it was called. */
const reasonOf = (thrown: unknown): string => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const [first = '', second = ''] = message.trim().split('\n')
  return (first.startsWith('Command failed:') && second) || first || 'it failed'
}

/** Looks, and never throws; what was found is one line. `earlier`: what the checks before it found. */
export const runCheck = async (check: Check, earlier: readonly Finding[] = []): Promise<Finding> => {
  const { name, advice, needs, look } = check
  if (earlier.some((finding) => finding.name === needs && !finding.ok)) {
    return { name, ok: false, checked: false, detail: `not checked, since ${needs} failed` }
  }
  try {
    return { name, ok: true, detail: await look() }
  } catch (thrown) {
    return { name, ok: false, detail: reasonOf(thrown), advice }
  }
}
