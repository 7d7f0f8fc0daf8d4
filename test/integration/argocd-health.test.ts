import { readFile } from 'node:fs/promises'
import t from 'tap'
import { browserPools, browserPoolSpec, browserPoolStatus, poolConditions } from '#shared/kube/browser-pool.ts'

const text = await readFile('k8s/argocd-health.yaml', 'utf8')

t.test('argocd health: the health script reads only fields and conditions that a BrowserPool has', async (t) => {
  const named = [...text.matchAll(/(?:found\["|[{,] ")([A-Z]\w+)"/g)].map(([, name]) => name!)
  t.strictSame([...new Set(named)].toSorted(), ['Degraded', 'Ready', 'Stalled'])
  for (const name of named) t.ok(name in poolConditions, name)
  const fields = (part: string) =>
    [...text.matchAll(new RegExp(`obj\\.${part}\\.(\\w+)`, 'g'))].map(([, name]) => name!)
  for (const name of fields('spec')) t.ok(name in browserPoolSpec.properties, name)
  for (const name of fields('status')) t.ok(name in browserPoolStatus.properties, name)
  t.ok(text.includes(`health.${browserPools.apiVersion.split('/')[0]}_${browserPools.kind}:`))
})
