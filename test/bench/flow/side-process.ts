// What carries captures, as one of the two versions of a comparison: each message has it carry so many mixed captures, 0 ends it.
import { answerParent } from '#test/bench/fork-sender.ts'
import { flowCases } from './flow-cases.ts'
import { carrierCpuSeconds, openFlow } from './measure-flow.ts'

/** Captures before those that are measured; see `flowCases`. */
const captures = 500
const opened = openFlow(flowCases({ captures, waiting: 0, rows: [] }).kinds[0].workload)

const carry = async (count: number) => {
  const flow = await opened
  if (count === 0) {
    await flow[Symbol.asyncDispose]()
    return 0
  }
  const before = await carrierCpuSeconds(flow)
  const { result } = await flow.run(count)
  return (((await carrierCpuSeconds(flow)) - before) * 1000) / result.accepted
}

process.on('message', (work: { captures: number }) => answerParent(carry(work.captures)))
