import type { Test } from 'tap'
import { type Finding, show, type SourceFile } from './source.ts'

/** Paths and texts of an invented tree. */
type Tree = Readonly<Record<string, string>>

/** What a check is tried on: the tree it guards (`real` gives its findings), faults planted one by one, and look-alikes that are no fault. */
export type CheckTrial = {
  readonly check: (files: readonly SourceFile[]) => Finding[]
  readonly real: () => Finding[]
  /** `at` lists every expected finding as `path:line`. */
  readonly bad: readonly { readonly name: string; readonly tree: Tree; readonly at: readonly string[] }[]
  readonly good: readonly { readonly name: string; readonly tree: Tree }[]
}

/** Runs a check on the real tree, and proves on invented ones that it catches what it should and nothing else. */
export const testCheck = async (t: Test, { check, real, bad, good }: CheckTrial): Promise<void> => {
  await t.test('holds in the tree', (t) => {
    expectNone(t, show(real()))
    t.end()
  })
  for (const { name, tree, at } of bad)
    await t.test(`catches ${name}`, (t) => {
      t.strictSame(places(check(toFiles(tree))), at)
      t.end()
    })
  for (const { name, tree } of good)
    await t.test(`passes ${name}`, (t) => {
      t.strictSame(show(check(toFiles(tree))), [])
      t.end()
    })
}

/** Fails once for every finding, so that each is one line of the report. */
export const expectNone = (t: Test, findings: readonly string[]): void => {
  for (const finding of findings) t.fail(finding, { diagnostic: false })
  if (findings.length === 0) t.pass('nothing found')
}

const toFiles = (tree: Tree): SourceFile[] => Object.entries(tree).map(([path, text]) => ({ path, text }))

const places = (findings: readonly Finding[]): string[] => findings.map(({ path, line }) => `${path}:${line}`)
