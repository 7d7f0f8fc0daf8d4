// What clients may rely on holds over a router too: the tests of a gateway, with a router before each.
process.env['TEST_ROUTER'] = 'before each gateway'
await import('./gateway.test.ts')
await import('./live-events.test.ts')
