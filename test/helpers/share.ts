/**
 * All of a long list, or for `TEST_SHARE=2/4` every fourth item, from the third on: for tests in which a machine with little time
 * tries another part of the same kind of cases at each commit. The parts of a list are disjoint, and together the whole.
 */
export const share = <T>(all: readonly T[], part = process.env['TEST_SHARE'] ?? '0/1'): readonly T[] => {
  const [, first, count] = /^(\d+)\/([1-9]\d*)$/.exec(part)?.map(Number) ?? []
  if (first === undefined || count === undefined || first >= count)
    throw new Error(`TEST_SHARE is "${part}"; it is the number of a part from 0 on, and how many there are: 2/4`)
  const chosen = all.filter((_, index) => index % count === first)
  // A test of nothing would pass.
  return chosen.length > 0 ? chosen : all.slice(0, 1)
}
