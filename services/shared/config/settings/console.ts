import { flag, integer, text } from './setting.ts'

/** Settings of the console, which the gateway serves. */
export const consoleSettings = {
  consoleFolder: text('CONSOLE_FOLDER', {
    help: 'folder with the built console; empty: `.tools/console` of the project',
    fallback: '',
  }),
  consoleOperators: flag('CONSOLE_OPERATORS', {
    help: 'whether operators may sign in to the console on the public port',
    fallback: true,
  }),
  sessionSeconds: integer('SESSION_SECONDS', {
    help: 'time after which a session of the console ends, however it is used',
    unit: 'seconds',
    fallback: 43_200,
    min: 60,
    max: 2_592_000,
  }),
  sessionIdleSeconds: integer('SESSION_IDLE_SECONDS', {
    help: 'time without a request, to the minute, after which a session of the console ends',
    unit: 'seconds',
    fallback: 3600,
    min: 60,
    max: 2_592_000,
  }),
  sessionRequestsPerMinute: integer('SESSION_REQUESTS_PER_MINUTE', {
    help: 'requests that one session of the console may send to one gateway at once, and again in each minute; the sessions of an account together eight times as many. They do not count against the rate limit of its plan',
    unit: 'requests per minute',
    fallback: 600,
    min: 1,
    max: 1_000_000,
  }),
}
