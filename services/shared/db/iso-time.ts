/** SQL for a timestamp in the contract's form: ISO 8601, UTC, microseconds, trailing `Z`. Null stays null. */
export const isoTime = (expression: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
