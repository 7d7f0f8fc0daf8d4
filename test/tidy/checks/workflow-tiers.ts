import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

/** A tier of the gate: a make target with at most one argument. */
const gateTier = /^(?:(?:step|setsid timeout) .*?\b)?make ([\w-]+)(?: ARGS=(\S+))?/gm
/** An entry of a workflow's matrix. */
const workflowTier = /- \{ target: ([\w-]+)(?:, arguments: ([^,}]+))?, minutes: \d+ \}/g
/** A target that a step of a workflow calls by its name. */
const workflowCall = /^[ \t]+(?:- )?(?:run: )?(?:[a-z]+=\$\()?make(?: --silent)? ([a-z][\w-]*)()/gm
const makeTarget = /^([\w-]+):/gm

const textOf = (files: readonly SourceFile[], path: string) => files.find((file) => file.path === path)?.text ?? ''

const tiersOf = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(({ index, 1: target = '', 2: given = '' }) => ({
    index,
    target,
    command: `make ${target} ${given}`.trim(),
  }))

/** Workflows call only make targets that exist; the one of changes has each tier of .ci/run and .ci/run-beside. */
export const workflowTiers = (files: readonly SourceFile[]): Finding[] => {
  const targets = new Set([...textOf(files, 'Makefile').matchAll(makeTarget)].map(([, target]) => target))
  const checked = new Set(
    tiersOf(textOf(files, '.github/workflows/check.yaml'), workflowTier).map(({ command }) => command),
  )
  return files.flatMap((file) => {
    const report = (index: number, problem: string) => findingAt(file, index, 'workflow-tiers', problem)
    if (file.path === '.ci/run' || file.path === '.ci/run-beside')
      return tiersOf(file.text, gateTier)
        .filter(({ command }) => !checked.has(command))
        .map(({ index, command }) => report(index, `.github/workflows/check.yaml lacks ${command}`))
    if (!file.path.startsWith('.github/workflows/')) return []
    return [...tiersOf(file.text, workflowTier), ...tiersOf(file.text, workflowCall)]
      .filter(({ target }) => !targets.has(target))
      .map(({ index, target }) => report(index, `there is no make target ${target}`))
  })
}
