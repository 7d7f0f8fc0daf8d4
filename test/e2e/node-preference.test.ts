// The pools of docs/operator.md on spot and on-demand nodes, placed by kube-scheduler.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

const { cluster, queue, podsOf, settles } = await startOperatorCluster(t, { nodes: 2, serviceMs: () => 1000 })
const [onDemand, spot] = ['fake-1', 'fake-2']
const capacityType = 'karpenter.sh/capacity-type'

const nodesOf = async (pool: string) => (await podsOf(pool)).map(({ spec }) => spec.nodeName ?? '')
const areOn = (pool: string, node: string, what: string) =>
  eventually(
    async () => {
      const nodes = await nodesOf(pool)
      return nodes.length > 0 && nodes.every((each) => each === node)
    },
    { what, withinMs: 60_000 },
  )

t.test('nodes: workers prefer spot nodes, and move to on-demand nodes while spot nodes are reclaimed', async (t) => {
  await cluster.kubectl(['label', 'node', onDemand, `${capacityType}=on-demand`])
  await cluster.kubectl(['label', 'node', spot, `${capacityType}=spot`])
  await cluster.kubectl(['taint', 'node', spot, 'spot=true:NoSchedule'])
  // By its load the scheduler would choose the other node.
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'load' },
    spec: {
      nodeName: spot,
      tolerations: [{ key: 'spot', operator: 'Exists' }],
      containers: [{ name: 'load', image: 'load', resources: { requests: { cpu: '24', memory: '192Gi' } } }],
    },
  })
  const page = await readFile(join(import.meta.dirname, '../../docs/operator.md'), 'utf8')
  await cluster.apply(/## Spot and on-demand nodes[^]*?```yaml\n([^]*?)```/.exec(page)?.[1] ?? '')
  await settles('standard-base', 2)
  await queue.send(20)
  await queue.allEnded(60_000)
  await areOn('standard', spot, 'the pool is on the spot node')
  await areOn('standard-base', onDemand, 'the base is on the on-demand node')

  await queue.send(20)
  await cluster.kubectl(['cordon', spot])
  const pods = (await podsOf('standard')).map(({ metadata }) => metadata.name)
  await cluster.kubectl(['delete', 'pod', '--wait=false', ...pods])
  await queue.allEnded(60_000)
  t.strictSame(queue.endedTwice(), [])
  await areOn('standard', onDemand, 'the pool has moved to the on-demand node')

  await cluster.kubectl(['uncordon', spot])
  await cluster.kubectl([
    'delete',
    'pod',
    '--wait=false',
    ...(await podsOf('standard')).map(({ metadata }) => metadata.name),
  ])
  await areOn('standard', spot, 'new workers are on the spot node again')
})
