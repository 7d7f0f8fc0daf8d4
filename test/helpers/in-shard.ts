/**
 * A shard of a long list of cases, or all of it without `TEST_SHARD`: for `2/4` every fourth item from the second on, as runners of
 * tests count. Shards are disjoint and together the whole, but for a list shorter than their number: each gets at least one item.
 */
export const inShard = <T>(all: readonly T[], shard = process.env['TEST_SHARD'] ?? '1/1'): readonly T[] => {
  const [, number = 0, count = 0] = /^(\d+)\/(\d+)$/.exec(shard)?.map(Number) ?? []
  if (number < 1 || number > count)
    throw new Error(`TEST_SHARD is "${shard}"; set it to the number of a shard, from 1 on, and how many there are: 2/4`)
  const chosen = all.filter((_, index) => index % count === number - 1)
  // A test of nothing would pass.
  return chosen.length > 0 ? chosen : all.slice(0, 1)
}
