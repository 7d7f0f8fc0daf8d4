import type { Queue } from './connection.ts'

/** Version of the NATS server of a connection; undefined before its first greeting. */
export const serverVersion = ({ connection }: Pick<Queue, 'connection'>): string | undefined => connection.info?.version
