/** What one check found. `advice` says what to do, and is there only where something is wrong. */
export type Finding = {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly advice?: string
}

/** One thing to look at: `look` answers what it is like, and throws where it is not as it must be. */
export type Check = { readonly name: string; readonly advice: string; readonly look: () => Promise<string> }

/** One line; of a program that failed, what it said and not how it was called. */
const reasonOf = (thrown: unknown): string => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const [first = '', second = ''] = message.trim().split('\n')
  return (first.startsWith('Command failed:') && second) || first || 'it failed'
}

/** Looks, and never throws; what was found is one line. */
export const runCheck = async ({ name, advice, look }: Check): Promise<Finding> => {
  try {
    return { name, ok: true, detail: await look() }
  } catch (thrown) {
    return { name, ok: false, detail: reasonOf(thrown), advice }
  }
}
