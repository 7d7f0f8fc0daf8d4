import t from 'tap'
import { isPublicAddress } from '#shared/policy/address.ts'
import { inAny, parseAddress } from '#shared/policy/cidr.ts'
import { cloudBlocks, cloudRanges } from '#shared/policy/cloud-ranges.ts'

t.test('cloud ranges: each names its cloud, its service, and a document of the cloud or of cloud-init', async (t) => {
  for (const { block, cloud, serves, source } of cloudRanges) {
    t.ok(cloud && serves, block)
    t.match(
      source,
      /^https:\/\/([a-z]+\.)*(amazon|microsoft|google|ibm|oracle|alibabacloud|cloud-init)\.(com|io)\//,
      block,
    )
  }
  t.equal(new Set(cloudRanges.map(({ block }) => block)).size, cloudRanges.length, 'no duplicates')
})

t.test('cloud ranges: no address in one is public, their neighbours are', async (t) => {
  for (const ip of [
    ...['129.224.0.1', '129.224.127.255', '168.63.129.16', '199.36.153.4', '199.36.153.11', '34.126.63.255'],
    ...['161.26.0.10', '166.8.0.1', '166.11.255.255', '192.0.0.192', '100.100.100.200'],
    ...['2600:2d00:2:1000::1', '2600:2d00:2:2000::1', '2001:4860:8040::1', 'fd00:ec2::254', 'fd20:ce::254'],
    ...['fd00:c1::a9fe:a9fe', 'fd00:42::42', 'fd00:a9fe:a9fe::1', 'fd00:100::100:200'],
  ]) {
    t.notOk(isPublicAddress(ip), ip)
    t.ok(inAny(cloudBlocks, parseAddress(ip)!), `${ip} is in the table`)
  }
  for (const ip of [
    ...['129.223.255.255', '129.224.128.0', '168.63.129.15', '199.36.153.3', '199.36.153.12', '34.125.255.255'],
    ...['34.126.64.0', '161.25.255.255', '161.27.0.0', '166.7.255.255', '166.12.0.0'],
    ...['2600:2d00:2:fff::1', '2600:2d00:2:1100::1', '2001:4860:4860::8888'],
  ]) {
    t.ok(isPublicAddress(ip), ip)
  }
})
