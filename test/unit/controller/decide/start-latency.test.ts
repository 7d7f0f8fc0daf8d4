import t from 'tap'
import { createStartLatency } from '#controller/decide/start-latency.ts'

const p90Of = (samples: readonly number[]) => {
  const latency = createStartLatency()
  for (const each of samples) latency.add(each)
  return latency.p90()
}

for (const { name, samples, want } of [
  { name: 'is unknown before the first start', samples: [], want: undefined },
  { name: 'is the only start', samples: [7], want: 7 },
  { name: 'is the 90th percentile of the starts', samples: [10, 1, 9, 2, 8, 3, 7, 4, 6, 5], want: 9 },
  { name: 'keeps the newest twenty', samples: [...Array(20).fill(90), ...Array(20).fill(1)], want: 1 },
])
  t.test(`start latency: ${name}`, async (t) => void t.equal(p90Of(samples), want))
