/** Share of captures that may wait longer than the wait that is staffed for. */
const lateCapturesShare = 0.01

/** Share of a lane's objective that a steady load may wait: the rest is for bursts and starts. */
export const steadyShare = 0.25

/** Length of a service and the wait that is staffed for, in milliseconds, and the most slots. */
type Staffing = { readonly serviceMs: number; readonly waitMs: number; readonly most: number }

/**
 * The fewest slots with which 99 % of captures wait at most `waitMs`, if Poisson arrivals keep `load` slots busy on average: for a short
 * wait about the load and twice its square root (square-root staffing), for a long one hardly more than the load. By Erlang's C formula,
 * from the recursion of his B formula; the wait of those that wait is exponential.
 */
export const staff = (load: number, { serviceMs, waitMs, most }: Staffing): number => {
  if (load <= 0) return 0
  let blocked = 1
  for (let slots = 1; slots < most; slots += 1) {
    blocked = (load * blocked) / (slots + load * blocked)
    if (slots <= load) continue
    const waits = blocked / (1 - (load / slots) * (1 - blocked))
    if (waits * Math.exp((-(slots - load) * waitMs) / serviceMs) <= lateCapturesShare) return slots
  }
  return most
}
