import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { isPublicAddress } from '#shared/policy/address.ts'
import { deniedNetworks } from '#shared/policy/special-networks.ts'

const values = resolve(import.meta.dirname, '../../../../charts/shutterfleet/values.yaml')

t.test('special networks: the network policies of the chart deny what egress refuses, and nothing else', async (t) => {
  const { networkPolicy } = parse(await readFile(values, 'utf8')) as {
    readonly networkPolicy: { readonly deniedNetworks: readonly string[] }
  }
  t.strictSame(networkPolicy.deniedNetworks, deniedNetworks)
  t.equal(new Set(deniedNetworks).size, deniedNetworks.length)
})

t.test('special networks: egress refuses the first address of each, and those that wrap IPv4 are among them', (t) => {
  for (const block of deniedNetworks) t.notOk(isPublicAddress(block.split('/')[0] ?? ''), block)
  for (const block of ['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16']) t.ok(deniedNetworks.includes(block), block)
  t.end()
})
