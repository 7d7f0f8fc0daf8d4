import t from 'tap'
import { forbiddenText } from './checks/forbidden-text.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

/** Joined here, so that this file does not contain what it plants. */
const bad = (...parts: string[]) => ({
  name: parts.join(' + '),
  tree: { 'x.md': `\n${parts.join('')}` },
  at: ['x.md:2'],
})
const good = (text: string) => ({ name: text, tree: { 'x.md': text } })

await testCheck(t, {
  check: forbiddenText,
  real: () => forbiddenText(readTree('')),
  bad: [
    bad('https://registry.', 'example.org/x'),
    bad('https://py', 'pi.org/simple'),
    bad('npm', 'js.com'),
    bad('GOPROXY=https://proxy.', 'golang.org'),
    bad('http://deb.', 'debian.org/debian'),
    bad('cd /', 'work/main'),
    bad('see /', 'root/notes'),
    bad('"/', 'home/me/x"'),
    bad('// TO', 'DO: later'),
    bad('# FIX', 'ME'),
  ],
  good: [
    good('registry.metrics()'),
    good('registry.register(counter)'),
    good('https://example.com/home/page'),
    good('./work/x'),
    good('the to-do list, methodology'),
    good('debian:12'),
  ],
})
