import { parseBlocks, type Cidr } from './cidr.ts'

/** Addresses at which a cloud serves only its own machines, and the cloud's documentation of them. */
type CloudRange = {
  readonly block: string
  readonly cloud: string
  readonly serves: string
  readonly source: string
}

const googleAccess = 'https://cloud.google.com/vpc/docs/configure-private-google-access'
const lattice = 'https://docs.aws.amazon.com/vpc-lattice/latest/ug/resource-configuration.html'
const awsMetadata = 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html'
const ibmEndpoints = 'https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc'
const oracleMetadata = 'https://docs.oracle.com/en-us/iaas/Content/Compute/Tasks/gettingmetadata.htm'
const alibabaMetadata = 'https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata'

/**
 * Cloud-internal addresses other than link-local ones: metadata services, and services at addresses in public ranges.
 * Only an address or a block of the allow list opens them.
 */
export const cloudRanges: readonly CloudRange[] = [
  { block: '129.224.0.0/17', cloud: 'AWS', serves: 'resources of VPC Lattice', source: lattice },
  { block: 'fd00:ec2::/32', cloud: 'AWS', serves: 'metadata, DNS, pod identity, VPC Lattice', source: awsMetadata },
  {
    block: '168.63.129.16/32',
    cloud: 'Azure',
    serves: 'WireServer, DNS',
    source: 'https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16',
  },
  { block: '199.36.153.4/30', cloud: 'Google', serves: 'restricted.googleapis.com', source: googleAccess },
  { block: '199.36.153.8/30', cloud: 'Google', serves: 'private.googleapis.com', source: googleAccess },
  { block: '2600:2d00:2:1000::/56', cloud: 'Google', serves: 'restricted.googleapis.com', source: googleAccess },
  { block: '2600:2d00:2:2000::/56', cloud: 'Google', serves: 'private.googleapis.com', source: googleAccess },
  { block: '34.126.0.0/18', cloud: 'Google', serves: 'direct connectivity to services', source: googleAccess },
  { block: '2001:4860:8040::/42', cloud: 'Google', serves: 'direct connectivity to services', source: googleAccess },
  {
    block: 'fd20:ce::254/128',
    cloud: 'Google',
    serves: 'metadata',
    source: 'https://cloud.google.com/compute/docs/metadata/querying-metadata',
  },
  { block: '161.26.0.0/16', cloud: 'IBM', serves: 'DNS, NTP, mirrors', source: ibmEndpoints },
  { block: '166.8.0.0/14', cloud: 'IBM', serves: 'service endpoints', source: ibmEndpoints },
  { block: '192.0.0.192/32', cloud: 'Oracle', serves: 'metadata of Cloud at Customer', source: oracleMetadata },
  { block: 'fd00:c1::a9fe:a9fe/128', cloud: 'Oracle', serves: 'metadata', source: oracleMetadata },
  { block: '100.100.100.200/32', cloud: 'Alibaba', serves: 'metadata', source: alibabaMetadata },
  { block: 'fd00:100::100:200/128', cloud: 'Alibaba', serves: 'metadata', source: alibabaMetadata },
  {
    block: 'fd00:42::42/128',
    cloud: 'Scaleway',
    serves: 'metadata',
    source: 'https://docs.cloud-init.io/en/latest/reference/datasources/scaleway.html',
  },
  {
    block: 'fd00:a9fe:a9fe::1/128',
    cloud: 'Akamai',
    serves: 'metadata',
    source: 'https://docs.cloud-init.io/en/latest/reference/datasources/akamai.html',
  },
]

/** The blocks of the table. */
export const cloudBlocks: readonly Cidr[] = parseBlocks(cloudRanges.map(({ block }) => block))
