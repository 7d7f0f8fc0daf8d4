import t from 'tap'
import { workflowTiers } from './checks/workflow-tiers.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const check = '.github/workflows/check.yaml'
const tree = (tiers: readonly string[], gate: string) => ({
  Makefile: 'check:\n\techo\nchaos:\n\techo\n',
  [check]: tiers.map((tier) => `  - { ${tier}, minutes: 9 }\n`).join(''),
  '.ci/run': gate,
})

await testCheck(t, {
  check: workflowTiers,
  real: () => workflowTiers(readTree('')),
  bad: [
    { name: 'a tier that the workflow lacks', tree: tree([], 'step 6m make check\n'), at: ['.ci/run:1'] },
    {
      name: 'a tier in the background that the workflow lacks',
      tree: tree(['target: check'], 'step 6m make check\nsetsid timeout 40m make chaos &\n'),
      at: ['.ci/run:2'],
    },
    {
      name: 'a tier beside the gate that the workflow lacks',
      tree: { ...tree(['target: check'], ''), '.ci/run-beside': 'scripts/build-helm.sh\nmake chaos\n' },
      at: ['.ci/run-beside:2'],
    },
    {
      name: 'a tier with another argument',
      tree: tree(['target: chaos, arguments: bite'], 'step 6m make chaos ARGS=representative\n'),
      at: ['.ci/run:1'],
    },
    { name: 'a target that does not exist', tree: tree(['target: chek'], ''), at: [`${check}:1`] },
    {
      name: 'a step that calls a target that does not exist',
      tree: { ...tree([], ''), '.github/workflows/release.yaml': '      - run: make relase VERSION=1\n' },
      at: ['.github/workflows/release.yaml:1'],
    },
    {
      name: 'a call among others in a step',
      tree: {
        ...tree([], ''),
        '.github/workflows/release.yaml': '          make check\n          found=$(make --silent chas A=b)\n',
      },
      at: ['.github/workflows/release.yaml:2'],
    },
  ],
  good: [
    {
      name: 'the same tiers and more',
      tree: tree(
        ['target: check', 'target: chaos, arguments: representative'],
        'step 6m make chaos ARGS=representative\n',
      ),
    },
  ],
})
