/** Ids in examples. */
export const exampleIds = {
  account: '1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  screenshot: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  batch: '7d444840-9dc0-41d1-b245-5ffdce74fad2',
  key: '5e8f3a52-7c1d-4b6e-8a90-1d2c3b4a5f60',
  member: '2f1e0d9c-8b7a-4695-8413-a2b3c4d5e6f7',
  webhook: '9b2d7a54-64c8-4c1f-8f3f-2f5a3c6f6f10',
  destination: '4c0b9e1d-2a37-4f58-9d61-7e8f90a1b2c3',
  delivery: 'c0ffee00-1234-4abc-9def-0123456789ab',
} as const

/** URL of the list of screenshots in examples. */
export const exampleAddress = 'https://shots.example.com/v1/screenshots'

/** Times of creation, completion and delivery in examples. */
export const exampleTimes = {
  created: '2026-03-01T09:30:00.123456Z',
  completed: '2026-03-01T09:30:01.823456Z',
  sent: '2026-03-01T09:30:01.900000Z',
} as const
