import type { Test } from 'tap'
import { type Finding, show, type SourceFile } from './source.ts'

/** Paths and texts of a planted tree. */
type Tree = Readonly<Record<string, string>>

/** The trial of a check: the tree it guards (`real` gives its findings), planted faults one by one, and look-alikes without a fault. */
export type CheckTrial = {
  readonly check: (files: readonly SourceFile[]) => Finding[]
  readonly real: () => Finding[]
  /** `at` lists every expected finding as `path:line`. */
  readonly bad: readonly { readonly name: string; readonly tree: Tree; readonly at: readonly string[] }[]
  readonly good: readonly { readonly name: string; readonly tree: Tree }[]
}

/** Runs a check on the real tree, and proves on planted ones that it finds exactly the faults. */
export const testCheck = async (t: Test, { check, real, bad, good }: CheckTrial): Promise<void> => {
  await t.test('the tree has no findings', (t) => {
    expectNone(t, show(real()))
    t.end()
  })
  for (const { name, tree, at } of bad)
    await t.test(`finds ${name}`, (t) => {
      t.strictSame(places(check(toFiles(tree))), at)
      t.end()
    })
  for (const { name, tree } of good)
    await t.test(`accepts ${name}`, (t) => {
      t.strictSame(show(check(toFiles(tree))), [])
      t.end()
    })
}

/** Fails once for every finding, so that each is one line of the report. */
const expectNone = (t: Test, findings: readonly string[]): void => {
  for (const finding of findings) t.fail(finding, { diagnostic: false })
  if (findings.length === 0) t.pass('nothing found')
}

const toFiles = (tree: Tree): SourceFile[] => Object.entries(tree).map(([path, text]) => ({ path, text }))

const places = (findings: readonly Finding[]): string[] => findings.map(({ path, line }) => `${path}:${line}`)
