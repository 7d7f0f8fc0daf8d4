import { isSuccess } from '#test/chaos/history.ts'
import type { Facts, Invariant } from './facts.ts'

/** The views of each link that showed its image. All links are current for longer than a run. */
const views = ({ exchanges }: Facts) =>
  Map.groupBy(
    exchanges.filter((each) => each.operation === 'render' && isSuccess(each)),
    ({ account, link }) => `${account} ${link}`,
  )

const oneImagePerLink: Invariant = {
  name: 'one image per link',
  rule: 'All views of a link show the same image of one capture while it is current.',
  broken: (facts) =>
    [...views(facts)].flatMap(([link, shown]) => {
      const ids = new Set(shown.flatMap(({ captures }) => captures.map(({ id }) => id)))
      const images = new Set(shown.map(({ imageSha256 }) => imageSha256))
      return ids.size > 1 || images.size > 1 ? [`link ${link}: ${images.size} images of ${ids.size} captures`] : []
    }),
}

const oneChargePerLink: Invariant = {
  name: 'one charge per link',
  rule: 'A link is charged once, however many view it at once.',
  broken: ({ exchanges, captures, snapshot }) => {
    const viewed = exchanges.filter(({ operation }) => operation === 'render')
    return [...Map.groupBy(viewed, ({ account }) => account)].flatMap(([account, all]) => {
      const links = new Set(all.map(({ link }) => link)).size
      const charged = snapshot.captures.filter(
        (row) => row.account === account && row.charge === 'settled' && !captures.get(row.id)?.accepted,
      ).length
      return charged > links ? [`account ${account}: ${charged} captures charged for ${links} links`] : []
    })
  },
}

/** Invariants on links that capture on demand. */
export const linkInvariants: readonly Invariant[] = [oneImagePerLink, oneChargePerLink]
