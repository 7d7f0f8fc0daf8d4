/** The part of a capture that determines its charge. */
type Modelled = {
  readonly key: number | undefined
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'deleted'
  /** Id of the capture whose result it shares. */
  follows: string | undefined
  isCharged: boolean
}

/** Reference model of an account's charges: a list of captures. */
export type ChargeModel = ReturnType<typeof createChargeModel>

/** Creates the model of an account with a quota and no overage. Captures with the same key share their result. */
export const createChargeModel = (quota: number) => {
  const captures = new Map<string, Modelled>()
  let settledByDeleted = 0
  const all = () => [...captures.values()]
  const runs = ({ status }: Modelled) => status === 'pending' || status === 'processing'
  const reserved = () => all().filter((each) => runs(each) && each.isCharged).length
  const settled = () =>
    settledByDeleted + all().filter(({ status, isCharged }) => status === 'completed' && isCharged).length
  const followersOf = (id: string) => [...captures].filter(([, { follows }]) => follows === id)

  const leaderOf = (key: number | undefined) =>
    key === undefined
      ? undefined
      : [...captures].find(([, each]) => each.key === key && runs(each) && !each.follows)?.[0]
  const hasResult = (key: number | undefined) =>
    key !== undefined && all().some((each) => each.key === key && each.status === 'completed' && each.isCharged)

  const add = (id: string, key: number | undefined) => {
    const follows = leaderOf(key)
    const hits = follows === undefined && hasResult(key)
    const isCharged = follows === undefined && !hits
    captures.set(id, { key, status: hits ? 'completed' : 'pending', follows, isCharged })
    return isCharged
  }

  return {
    reserved,
    settled,
    /** Accepts all captures or none; returns whether they were accepted. */
    accept: (requests: readonly { readonly id: string; readonly key: number | undefined }[]): boolean => {
      const own = requests.map(({ id, key }) => add(id, key)).filter(Boolean).length
      if (own === 0 || reserved() + settled() <= quota) return true
      for (const { id } of requests) captures.delete(id)
      return false
    },
    begin: (id: string): void => {
      const capture = captures.get(id)
      if (capture?.status === 'pending' && !capture.follows) capture.status = 'processing'
    },
    end: (id: string, how: 'completed' | 'failed'): void => {
      const capture = captures.get(id)
      if (!capture || !runs(capture) || capture.follows) return
      capture.status = how
      for (const [, follower] of followersOf(id)) Object.assign(follower, { status: how, follows: undefined })
    },
    remove: (id: string): void => {
      const capture = captures.get(id)
      if (!capture || capture.status === 'deleted') return
      const [oldest, ...others] = followersOf(id)
      if (oldest) {
        Object.assign(oldest[1], { follows: undefined, isCharged: true })
        for (const [, other] of others) other.follows = oldest[0]
      } else if (capture.isCharged && ['processing', 'completed'].includes(capture.status)) settledByDeleted += 1
      Object.assign(capture, { status: 'deleted', follows: undefined })
    },
    unended: (): string[] => [...captures].filter(([, each]) => runs(each)).map(([id]) => id),
  }
}
