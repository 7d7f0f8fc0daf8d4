import { against, type Mutation } from './mutation.ts'

const lists = 'services/shared/policy/target-lists.ts'
const gateway = 'services/gateway'

/** Faults in the lists of targets: how they match, where they are checked, and how they reach egress. */
export const targets: readonly Mutation[] = [
  ...against('test/unit/shared/policy/target-lists.test.ts', lists, [
    { at: 'nameEntry', replace: '`.${$host}`', by: '$host' },
    { at: 'hasName', replace: '$host.endsWith($suffix)', by: '$host.includes($suffix)' },
    { at: 'hasAddress', replace: '$first || inAny([$block], $plain)', by: '$first' },
    { at: 'onPort', replace: '$entry.port === undefined || $same', by: 'true' },
    { at: 'checkAddresses', replace: '$addresses.flat()', by: '($addresses[0] ?? [])' },
    { at: 'checkAddresses', replace: '$addresses.every($test)', by: '$addresses.some($test)' },
    { at: 'checkAddresses', drop: '$addresses.length > 0' },
    { at: 'checkAddresses', drop: 'if ($denied) return deniedBy($denied)' },
    { at: 'checkName', drop: 'if ($denied) return deniedBy($denied)' },
    { at: 'checkName', replace: 'isResolvedLater && $isBlock', by: '$isBlock' },
    { at: 'blockEntry', replace: 'masked(unmapped($cidr))', by: 'unmapped($cidr)' },
    { at: 'blockEntry', replace: 'masked(unmapped($cidr))', by: 'masked($cidr)' },
  ]),
  ...against('test/unit/worker/network/relay.test.ts', 'services/worker/network/request-tunnel.ts', [
    { at: 'requestTunnel', drop: 'isApplied($head, $capture)' },
  ]),
  {
    point: 'Targets of an account',
    at: 'services/egress/target/resolve-target.ts > resolveTarget',
    drop: 'assertNameListed($$args)',
  },
  {
    point: 'Targets of an account',
    at: 'services/egress/target/resolve-target.ts > resolveTarget',
    drop: 'assertAddressesListed($$args)',
  },
  {
    point: 'Targets of an account',
    at: 'services/egress/target/resolve-target.ts > checkTargetWithoutDns',
    replace: 'isResolvedLater: false',
    by: 'isResolvedLater: true',
  },
  {
    point: 'Targets of an account',
    at: `${gateway}/operations/account/targets.ts > actorOf`,
    replace: "$session.role === 'owner'",
    by: 'true',
  },
  {
    point: 'Targets of an account',
    at: `${gateway}/capture/create-capture.ts > createCapture`,
    replace: '$parsed.unavailable ?? targetErrors($$args)',
    by: '$parsed.unavailable',
  },
  {
    point: 'Targets of an account',
    at: 'services/shared/db/sql/check-request.sql',
    replaceText: ' and a.targets_sha256 is distinct from p_targets_sha256',
    by: ' and false',
  },
  {
    point: 'Targets of the installation',
    at: 'services/egress/target/check-lists.ts',
    replace: "['installation', 'account']",
    by: "['account']",
  },
  {
    point: 'Targets of the installation',
    at: 'services/shared/policy/target.ts > checkTarget',
    replace: '$violation ? $refused : $ok',
    by: '$ok',
  },
]
